import { withoutKeys } from "../../shared/api-keys.ts";
import { type ErrorCode, errorBody } from "../../shared/errors.ts";
import type { Response } from "./client.ts";
import { responseProblems } from "./response-problems.ts";

/** A broken promise. Its message says what the service did, and never holds a key. */
export class Broken extends Error {
  override name = "Broken";
}

/** A promise that a stage may break in its first minute, before every route and permission is in place. */
export class NotReady extends Broken {
  override name = "NotReady";
}

/** @throws Broken unless `condition` holds. */
export function check(condition: boolean, seen: string): asserts condition {
  if (!condition) throw new Broken(seen);
}

/** @throws NotReady or Broken unless the response has this status. */
export function checkStatus({ status, body }: Pick<Response, "status" | "body">, expected: number): void {
  if (status === expected) return;
  const Failure = [403, 404].includes(status) || status >= 500 ? NotReady : Broken;
  throw new Failure(`status ${status} instead of ${expected}, with the body ${excerpt(body)}`);
}

/** @throws Broken unless the interface description allows the response: its headers, its content type, its body. */
export function checkDocumented({ method, path, ...response }: Response): void {
  const problems = responseProblems(method, path, response);
  check(problems.length === 0, withoutKeys(problems.join("; ")));
}

/** @throws NotReady or Broken unless the response is a documented Error with this status and code. */
export function checkError(response: Response, status: number, expected: ErrorCode): void {
  checkStatus(response, status);
  // The gateway responds like this until an operation's route has reached it.
  if (expected !== "resource_not_found" && response.body === errorBody("resource_not_found")) {
    throw new NotReady(`code resource_not_found instead of ${expected}`);
  }
  checkDocumented(response);
  const { code }: { code: string } = JSON.parse(response.body);
  check(code === expected, `code ${code} instead of ${expected}`);
}

/** The start of a text that the service sent, on one line and without keys. */
export function excerpt(text: string): string {
  const quoted = JSON.stringify(withoutKeys(text));
  return quoted.length > 120 ? `${quoted.slice(0, 120)}…` : quoted;
}
