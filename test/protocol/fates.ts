import type { Response } from "./recorded-client.ts";

/** A possible fate of one attempt, between the client and the table. */
export interface Fate {
  name: string;
  /** When the table carries it out, if it does. */
  applied: "now" | "after the next attempt" | "never";
  /** The response that the client sees instead of the table's. */
  seen?: Response;
}

const serverError = exception(500, "com.amazonaws.dynamodb.v20120810#InternalServerError");
const throttled = exception(400, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException");

export const fates: readonly Fate[] = [
  { name: "delivered", applied: "now" },
  { name: "lost on its way", applied: "never", seen: "none" },
  { name: "applied, its response lost", applied: "now", seen: "none" },
  { name: "applied, but 500", applied: "now", seen: serverError },
  { name: "throttled", applied: "never", seen: throttled },
  { name: "delivered late", applied: "after the next attempt", seen: "none" },
];

function exception(status: number, type: string): Response {
  return { status, body: JSON.stringify({ __type: type, message: "injected by a test" }) };
}
