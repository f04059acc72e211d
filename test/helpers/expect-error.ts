import { expect } from "vitest";
import type { ReceivedResponse } from "../../infra/tools/smoke/client.ts";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";

/** A response, whatever its request was. */
export type HttpResponse = Omit<ReceivedResponse, "method" | "path">;

/** Expects an Error, with the headers that every one has besides those given. */
export function expectError(
  response: HttpResponse,
  code: ErrorCode,
  headers: Record<string, string> = {},
) {
  const always = { "content-type": "application/json", "cache-control": "no-store" };
  expect(response).toMatchObject({
    status: errors[code].status,
    body: errorBody(code),
    headers: { ...always, ...headers },
  });
}
