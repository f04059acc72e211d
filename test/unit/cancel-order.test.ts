import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { APIGatewayProxyResult } from "aws-lambda";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { handler } from "../../functions/cancel-order.ts";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";
import { cancellations } from "../helpers/cancellations.ts";
import { lambdaContext, proxyEvent } from "../helpers/lambda.ts";
import { spyOnLog } from "../helpers/log.ts";

const table = mockClient(DynamoDBClient);
const log = spyOnLog();

beforeEach(() => void table.reset());

const cancel = (
  pathParameters: Record<string, string> | null = { orderId: "42" },
  context = lambdaContext(),
): Promise<APIGatewayProxyResult> => handler(proxyEvent({ pathParameters }), context);

/** The response with the Error of this code. */
const errorResponse = (code: ErrorCode): APIGatewayProxyResult => ({
  statusCode: errors[code].status,
  headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
  body: errorBody(code),
});

const cancelled = { statusCode: 204, headers: { "Cache-Control": "no-store" }, body: "" };
const subject = { keyId: "key_1", orderId: "42" };

describe("cancelling an order", () => {
  test("is one write, by the caller and in this invocation, which a signal can end", async () => {
    vi.useFakeTimers({ now: new Date("2026-11-20T12:00:00Z"), toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    table.on(UpdateItemCommand).resolves({});
    expect(await cancel({ orderId: "9223372036854775807" })).toEqual(cancelled);
    expect(table.calls().map(({ args }) => args)).toMatchObject([
      [
        {
          input: {
            TableName: "orders",
            Key: { id: { N: "9223372036854775807" } },
            ExpressionAttributeValues: {
              ":at": { S: "2026-11-20T12:00:00.000Z" },
              ":by": { S: "key_1" },
              ":id": { S: "invocation-1" },
            },
          },
        },
        { abortSignal: expect.any(AbortSignal) },
      ],
    ]);
  });

  test.each(cancellations)("responds with $2 for $0, and logs that", async (...row) => {
    const [, before, outcome] = row;
    const failed = { message: "failed", $metadata: {}, ...(before && { Item: before }) };
    const update = table.on(UpdateItemCommand);
    if (before?.["status"]?.S === "pending") update.resolves({});
    else update.rejects(new ConditionalCheckFailedException(failed));
    const response = await cancel();
    const line =
      outcome === 204
        ? { event: "order_cancelled", ...subject }
        : { event: "cancel_rejected", ...subject, code: outcome };
    expect(response).toEqual(outcome === 204 ? cancelled : errorResponse(outcome));
    expect(log.info.mock.calls).toEqual([[line]]);
    expect(log.error).not.toHaveBeenCalled();
  });

  test.each([{ orderId: "abc" }, { orderId: "" }, null])(
    "responds with 404 to the path parameters %j without a call to the table",
    async (pathParameters) => {
      expect(await cancel(pathParameters)).toEqual(errorResponse("order_not_found"));
      expect(table.calls()).toHaveLength(0);
      expect(log.info.mock.calls).toEqual([
        [{ event: "cancel_rejected", keyId: "key_1", code: "order_not_found" }],
      ]);
    },
  );

  test.each([null, {}, { keyId: 7 }, { keyId: "" }])(
    "responds with 500 without a call to the table for %j instead of a key id",
    async (authorizer) => {
      const event = proxyEvent({ pathParameters: { orderId: "42" } });
      event.requestContext.authorizer = authorizer;
      expect(await handler(event, lambdaContext())).toEqual(
        errorResponse("internal_error"),
      );
      expect(table.calls()).toHaveLength(0);
    },
  );

  test.each<[name: string, code: ErrorCode]>([
    ["ThrottlingException", "service_unavailable"],
    ["ValidationException", "internal_error"],
  ])(
    "logs only the names, messages and stacks when the table fails with %s: %s",
    async (failure, code) => {
      // As the SDK reports a failed condition, with the item.
      const cause = Object.assign(new TypeError("cause"), { Item: { petId: { N: "7" } } });
      const error = Object.assign(new Error("secret", { cause }), { name: failure });
      table.on(UpdateItemCommand).rejects(error);
      expect(await cancel()).toEqual(errorResponse(code));
      const causes = [
        { name: failure, message: "secret", stack: error.stack },
        { name: "TypeError", message: "cause", stack: cause.stack },
      ];
      const line = { event: "cancel_failed", ...subject, code, causes };
      expect(log.error.mock.calls).toEqual([[line]]);
    },
  );

  test("responds with 503 half a second before the function's time is up", async () => {
    table.on(UpdateItemCommand).callsFake(() => new Promise(() => {}));
    const context = { ...lambdaContext(), getRemainingTimeInMillis: () => 501 };
    expect(await cancel(undefined, context)).toEqual(errorResponse("service_unavailable"));
  });
});
