import middy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { errorBody, ServiceError } from "../../shared/errors.ts";
import { respondWithErrors } from "../../shared/respond-with-errors.ts";
import { lambdaContext, proxyEvent } from "../helpers/lambda.ts";

// Before the import of middy's error handler, which would keep the real one.
const logError = vi.hoisted(() => vi.spyOn(console, "error").mockReturnValue());
beforeEach(() => {
  logError.mockClear();
});

const failing = (thrown: unknown) =>
  middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(respondWithErrors({ rejected: "cancel_rejected", failed: "cancel_failed" }))
    .handler(() => {
      throw thrown;
    });

describe("an operation that throws", () => {
  test.each([new TypeError("secret"), "secret", undefined])(
    "responds with internal_error and logs once (%s)",
    async (thrown) => {
      const response = await failing(thrown)(proxyEvent({}), lambdaContext("invocation-1"));
      expect(response).toMatchObject({ statusCode: 500, body: errorBody("internal_error") });
      expect(JSON.stringify(response)).not.toContain("secret");
      expect(logError.mock.calls).toEqual([
        [expect.objectContaining({ event: "cancel_failed", code: "internal_error" })],
      ]);
    },
  );

  test("logs the name, the message and the stack of the error and each of its causes, and nothing else", async () => {
    // As the SDK reports a failed condition, with the item.
    const cause = Object.assign(new TypeError("cause"), { Item: { petId: { N: "7" } }, $response: "secret" });
    const error = Object.assign(new Error("error", { cause }), { code: "ECONNRESET" });
    await failing(error)(proxyEvent({}), lambdaContext("invocation-1"));
    const { causes } = logError.mock.calls[0]?.[0] ?? {};
    expect(causes).toEqual([
      { name: "Error", message: "error", stack: error.stack },
      { name: "TypeError", message: "cause", stack: cause.stack },
    ]);
  });

  test("responds with a ServiceError's own record, which no cache may keep", async () => {
    const error = new ServiceError("service_unavailable", new Error("secret"));
    const response = await failing(error)(proxyEvent({}), lambdaContext("invocation-1"));
    expect(response).toEqual({
      statusCode: 503,
      headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
      body: errorBody("service_unavailable"),
    });
  });
});
