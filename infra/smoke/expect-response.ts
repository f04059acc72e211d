import assert from "node:assert/strict";
import { withoutKeys } from "../../shared/api-keys.ts";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";
import { type ApiResponse, NotReady } from "./client.ts";
import { excerpt, responseProblems } from "./document.ts";

/**
 * @throws AssertionError unless the response has this status; NotReady for one that a new stage may
 * have.
 */
export function expectStatus(
  { status, body }: Pick<ApiResponse, "status" | "body">,
  expected: number,
): void {
  if (status === expected) return;
  const seen = `status ${status} instead of ${expected}, with the body ${excerpt(body)}`;
  if ([403, 404].includes(status) || status >= 500) throw new NotReady(seen);
  assert.fail(seen);
}

/** @throws AssertionError unless the interface description allows the response. */
export function expectDocumented({ method, path, ...response }: ApiResponse): void {
  const problems = responseProblems(method, path, response);
  const more = problems.length > 5 ? `; and ${problems.length - 5} more` : "";
  assert(problems.length === 0, withoutKeys(problems.slice(0, 5).join("; ") + more));
}

/**
 * @throws AssertionError unless the response is the documented Error with this code and its status;
 * NotReady for one that a new stage may send.
 */
export function expectError(response: ApiResponse, expected: ErrorCode): void {
  expectStatus(response, errors[expected].status);
  // The gateway responds like this until an operation's route has reached it.
  if (
    expected !== "resource_not_found" &&
    response.body === errorBody("resource_not_found")
  ) {
    throw new NotReady(`code resource_not_found instead of ${expected}`);
  }
  expectDocumented(response);
  const code: unknown = JSON.parse(response.body).code;
  assert(code === expected, `code ${code} instead of ${expected}`);
}
