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
import type { OrderItem } from "../../shared/order.ts";
import { cancellations } from "../helpers/cancellations.ts";
import { lambdaContext, proxyEvent } from "../helpers/lambda.ts";
import { spyOnLog } from "../helpers/log.ts";

const table = mockClient(DynamoDBClient);
const log = spyOnLog();

beforeEach(() => void table.reset());

const cancellation = (orderId: string) =>
  proxyEvent({ httpMethod: "DELETE", pathParameters: { orderId } });
const cancel = (orderId: string): Promise<APIGatewayProxyResult> =>
  handler(cancellation(orderId), lambdaContext());

/** Has the table respond as if order 42 were like `before`, or missing if that is undefined. */
function haveOrder(before: OrderItem | undefined): void {
  if (before?.["status"]?.S === "pending") table.on(UpdateItemCommand).resolves({});
  else table.on(UpdateItemCommand).rejects(failedCondition(before));
}

function failedCondition(Item?: OrderItem): ConditionalCheckFailedException {
  return new ConditionalCheckFailedException({
    message: "failed",
    $metadata: {},
    ...(Item && { Item }),
  });
}

function expectError(response: APIGatewayProxyResult, code: ErrorCode): void {
  expect(response).toEqual({
    statusCode: errors[code].status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
    body: errorBody(code),
  });
}

describe("cancelling an order", () => {
  test("is one conditional write with exactly this input", async () => {
    vi.useFakeTimers({ now: new Date("2026-11-20T12:00:00Z"), toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    table.on(UpdateItemCommand).resolves({});
    await cancel("9223372036854775807");
    expect(table.commandCalls(UpdateItemCommand).map(({ args }) => args[0].input)).toEqual([
      {
        TableName: "orders",
        Key: { id: { N: "9223372036854775807" } },
        UpdateExpression:
          "SET #status = :cancelled, cancelledAt = :at, cancelledBy = :by, cancellationId = :id",
        ConditionExpression: "#status = :pending",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: {
          ":cancelled": { S: "cancelled" },
          ":pending": { S: "pending" },
          ":at": { S: "2026-11-20T12:00:00.000Z" },
          ":by": { S: "key_1" },
          ":id": { S: "invocation-1" },
        },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      },
    ]);
  });

  test("writes with an abort signal", async () => {
    table.on(UpdateItemCommand).resolves({});
    await cancel("42");
    expect(table.calls()[0]?.args.at(1)).toEqual({ abortSignal: expect.any(AbortSignal) });
  });

  test.each(cancellations)("responds with $2 for $0", async (_, before, outcome) => {
    haveOrder(before);
    const response = await cancel("42");
    if (outcome === 204) {
      const headers = { "Cache-Control": "no-store" };
      expect(response).toEqual({ statusCode: 204, headers, body: "" });
    } else {
      expectError(response, outcome);
    }
  });

  test.each(cancellations)("logs the outcome $2 for $0", async (_, before, outcome) => {
    haveOrder(before);
    await cancel("42");
    const fields = { keyId: "key_1", orderId: "42" };
    const line =
      outcome === 204
        ? { event: "order_cancelled", ...fields }
        : { event: "cancel_rejected", ...fields, code: outcome };
    expect(log.info.mock.calls).toEqual([[line]]);
    expect(log.error).not.toHaveBeenCalled();
  });

  test.each([{ orderId: "abc" }, { orderId: "%31" }, { orderId: "" }, null])(
    "responds with 404 to the path parameters %j without a call to the table",
    async (pathParameters) => {
      const event = proxyEvent({ httpMethod: "DELETE", pathParameters });
      expectError(await handler(event, lambdaContext()), "order_not_found");
      expect(table.calls()).toHaveLength(0);
    },
  );

  test("logs who asked for an order with a malformed id", async () => {
    const event = proxyEvent({ httpMethod: "DELETE", pathParameters: { orderId: "abc" } });
    await handler(event, lambdaContext());
    expect(log.info.mock.calls).toEqual([
      [{ event: "cancel_rejected", keyId: "key_1", code: "order_not_found" }],
    ]);
  });

  test.each([null, {}, { keyId: 7 }, { keyId: "" }])(
    "responds with 500 without a call to the table for %j instead of a key id",
    async (authorizer) => {
      const event = cancellation("42");
      event.requestContext.authorizer = authorizer;
      expectError(await handler(event, lambdaContext()), "internal_error");
      expect(table.calls()).toHaveLength(0);
    },
  );

  test.each([
    { name: "ProvisionedThroughputExceededException" },
    { name: "ThrottlingException" },
    { name: "RequestLimitExceeded" },
    { name: "InternalServerError", $metadata: { httpStatusCode: 500 } },
    { name: "TimeoutError" },
    { name: "AbortError" },
    { code: "ECONNREFUSED" },
    { code: "ECONNRESET" },
    { code: "EPIPE" },
    { code: "ENOTFOUND" },
  ])("responds with 503 when the table fails with %j", async (fields) => {
    table.on(UpdateItemCommand).rejects(Object.assign(new Error("secret"), fields));
    expectError(await cancel("42"), "service_unavailable");
  });

  test.each([
    "ResourceNotFoundException",
    "AccessDeniedException",
    "ValidationException",
    "TypeError",
  ])("responds with 500 when the table fails with %s, which is our fault", async (name) => {
    table.on(UpdateItemCommand).rejects(Object.assign(new Error("secret"), { name }));
    expectError(await cancel("42"), "internal_error");
  });

  test("logs only the name, message and stack of each error of the table", async () => {
    // As the SDK reports a failed condition, with the item.
    const cause = Object.assign(new TypeError("cause"), {
      Item: { petId: { N: "7" } },
      $response: "secret",
    });
    const error = Object.assign(new Error("secret", { cause }), { code: "EUNKNOWN" });
    table.on(UpdateItemCommand).rejects(error);
    await cancel("42");
    const causes = [error, cause].map(({ name, message, stack }) => ({ name, message, stack }));
    const failure = {
      event: "cancel_failed",
      keyId: "key_1",
      orderId: "42",
      code: "internal_error",
      causes,
    };
    expect(log.error.mock.calls).toEqual([[failure]]);
  });

  test("responds with 500 when something is thrown that is not an Error", async () => {
    table.on(UpdateItemCommand).callsFake(() => Promise.reject("secret"));
    expectError(await cancel("42"), "internal_error");
  });

  test("responds with 503 half a second before the function's time is up", async () => {
    table.on(UpdateItemCommand).callsFake(() => new Promise(() => {}));
    const context = { ...lambdaContext("invocation-1"), getRemainingTimeInMillis: () => 501 };
    expectError(await handler(cancellation("42"), context), "service_unavailable");
  });

  test("does not take a request id that the client chose for the invocation's", async () => {
    const item = {
      id: { N: "42" },
      status: { S: "cancelled" },
      cancellationId: { S: "chosen-by-client" },
    };
    table.on(UpdateItemCommand).rejects(failedCondition(item));
    const event = cancellation("42");
    event.requestContext.requestId = "chosen-by-client";
    expectError(await handler(event, lambdaContext()), "order_already_cancelled");
  });
});
