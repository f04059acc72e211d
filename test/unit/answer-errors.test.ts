import middy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { answerErrors } from "../../shared/answer-errors.ts";
import { callerKeyId } from "../../shared/caller.ts";
import { errorBody } from "../../shared/errors.ts";
import { lambdaContext, proxyEvent } from "../helpers/lambda.ts";

// Before the import of middy's error handler, which would keep the real one.
const logError = vi.hoisted(() => vi.spyOn(console, "error").mockReturnValue());
beforeEach(() => {
  logError.mockClear();
});

describe("whatever an operation throws", () => {
  const failing = (thrown: unknown) =>
    middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
      .use(answerErrors("cancel"))
      .handler(() => {
        throw thrown;
      });

  test.each([new TypeError("secret"), "secret", undefined])(
    "is internal_error, and logged once (%s)",
    async (thrown) => {
      const answer = await failing(thrown)(proxyEvent({}), lambdaContext("invocation-1"));
      expect(answer).toMatchObject({ statusCode: 500, body: errorBody("internal_error") });
      expect(JSON.stringify(answer)).not.toContain("secret");
      expect(logError.mock.calls).toEqual([
        [expect.objectContaining({ event: "cancel_failed", code: "internal_error", keyId: "key_1" })],
      ]);
    },
  );
});

test.each([undefined, null, {}, { keyId: 7 }])("a caller whom no authorizer named (%j) has no key id", (authorizer) => {
  const { requestContext } = proxyEvent({});
  expect(callerKeyId(proxyEvent({ requestContext: { ...requestContext, authorizer } }))).toBe("");
});
