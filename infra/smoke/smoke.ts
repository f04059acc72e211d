import { setTimeout } from "node:timers/promises";
import { Broken, NotReady } from "./check.ts";
import { Client, reason } from "./client.ts";
import { promises } from "./promises.ts";

/** One line of the report. */
export type Line =
  | { kind: "kept"; promise: string }
  | { kind: "broken"; promise: string; seen: string }
  | { kind: "waiting"; seconds: number; promise: string; seen: string };

export interface SmokeOptions {
  /** Ends in `/v1`, without a slash after it. */
  baseUrl: string;
  apiKey: string;
  /** A pending order to cancel. Without one, nothing changes. */
  cancel?: string | undefined;
  /** How long a stage may take to become ready; 0 by default. */
  waitSeconds?: number;
}

/** In milliseconds. */
export interface Clock {
  now(): number;
  sleep(milliseconds: number): Promise<void>;
}

const systemClock: Clock = { now: () => performance.now(), sleep: (milliseconds) => setTimeout(milliseconds) };

/**
 * Checks every promise of a deployed service, one after the other. A new stage gets time first: its
 * routes and permissions reach the gateway up to a minute after the deployment is done.
 */
export async function* smoke(
  { baseUrl, apiKey, cancel, waitSeconds = 0 }: SmokeOptions,
  clock = systemClock,
): AsyncGenerator<Line, void, void> {
  const client = new Client(baseUrl, apiKey);
  const deadline = clock.now() + waitSeconds * 1000;
  let waiting = false;
  for (const { promise, needsReadyStage = false, keep } of promises(cancel)) {
    for (;;) {
      try {
        await keep(client);
        yield { kind: "kept", promise };
        break;
      } catch (error) {
        const ready = error instanceof Broken && !(error instanceof NotReady);
        if (ready || !needsReadyStage || clock.now() >= deadline) {
          yield { kind: "broken", promise, seen: reason(error) };
          break;
        }
        if (!waiting) yield { kind: "waiting", seconds: waitSeconds, promise, seen: reason(error) };
        waiting = true;
        await clock.sleep(Math.min(2000, deadline - clock.now()));
      }
    }
  }
}
