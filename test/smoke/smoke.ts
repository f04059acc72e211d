import { Client } from "./client.ts";
import { questions } from "./findings.ts";
import { cancellation, promises } from "./promises.ts";

/** One line of the report. */
export type Line =
  | { kind: "kept"; promise: string }
  | { kind: "broken"; promise: string; seen: string }
  | { kind: "found"; question: string; answer: string };

export interface SmokeOptions {
  /** Ends in `/v1`, without a slash behind it. */
  baseUrl: string;
  apiKey: string;
  /** A pending order to cancel. Without one, nothing is changed. */
  cancel?: string | undefined;
}

/** Holds a deployed address to its promises, one after the other, and tells how it does what nobody promised. */
export async function* smoke({ baseUrl, apiKey, cancel }: SmokeOptions): AsyncGenerator<Line, void, void> {
  const client = new Client(baseUrl, apiKey);
  for (const { promise, keep } of [...promises, ...(cancel === undefined ? [] : [cancellation(cancel)])]) {
    try {
      await keep(client);
      yield { kind: "kept", promise };
    } catch (error) {
      yield { kind: "broken", promise, seen: reason(error) };
    }
  }
  for (const { question, ask } of questions) {
    yield { kind: "found", question, answer: await ask(client).catch(reason) };
  }
}

/** A connection that could not be made to several addresses has no message of its own. */
function reason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join("; ");
  return error instanceof Error ? error.message : String(error);
}
