import { logWarning } from "./log.ts";
import { withoutSecrets } from "./secrets.ts";

/**
 * Reads an environment variable that the stack sets on a function.
 *
 * @throws Error naming the variable when it is missing or empty. At module level, that fails the
 * function's start.
 */
export function environmentVariable(name: "ORDERS_TABLE" | "API_KEYS_TABLE"): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set`);
  return value;
}

/**
 * How long a function's start may wait for its first call, in milliseconds: long enough for a
 * connection over TLS, and too short to delay a request much while the table is unreachable.
 */
const readyWithin = 900;

/**
 * Makes a function's first call to its table while the function starts, when Lambda does not ration
 * its CPU. The first request then finds an open connection, and signing and parsing warmed up.
 *
 * A failed call is only logged: a table that can't be reached now may be back for the first
 * request.
 *
 * @param call makes a call that changes nothing, gives up when its signal aborts, and rejects with
 * the client's own error.
 */
export async function makeReady(
  call: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  await call(AbortSignal.timeout(readyWithin)).catch((error) =>
    logWarning("not_ready", { cause: withoutSecrets(String(error)) }),
  );
}
