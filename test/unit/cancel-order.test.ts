import { ConditionalCheckFailedException, DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { APIGatewayProxyResult } from "aws-lambda";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { handler } from "../../functions/cancel-order.ts";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { lambdaContext, proxyEvent } from "../helpers/lambda.ts";
import { spyOnLog } from "../helpers/log.ts";

const table = mockClient(DynamoDBClient);
const log = spyOnLog();

beforeEach(() => void table.reset());

const cancellation = (orderId: string) => proxyEvent({ httpMethod: "DELETE", pathParameters: { orderId } });
const cancel = (orderId: string): Promise<APIGatewayProxyResult> => handler(cancellation(orderId), lambdaContext());

function failedCondition(Item?: OrderItem): ConditionalCheckFailedException {
  return new ConditionalCheckFailedException({ message: "failed", $metadata: {}, ...(Item && { Item }) });
}

function expectError(response: APIGatewayProxyResult, code: ErrorCode): void {
  expect(response).toEqual({
    statusCode: errors[code].status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
    body: errorBody(code),
  });
}

describe("cancelling an order", () => {
  test("responds with 204 and no body, and logs who cancelled what", async () => {
    table.on(UpdateItemCommand).resolves({});
    expect(await cancel("42")).toEqual({ statusCode: 204, headers: { "Cache-Control": "no-store" }, body: "" });
    expect(log.info.mock.calls).toEqual([[{ event: "order_cancelled", keyId: "key_1", orderId: "42" }]]);
  });

  test("is one conditional write with exactly this input", async () => {
    vi.useFakeTimers({ now: new Date("2026-11-20T12:00:00Z"), toFake: ["Date"] });
    table.on(UpdateItemCommand).resolves({});
    await cancel("9223372036854775807");
    vi.useRealTimers();
    expect(table.commandCalls(UpdateItemCommand).map(({ args }) => args[0].input)).toEqual([
      {
        TableName: "orders",
        Key: { id: { N: "9223372036854775807" } },
        UpdateExpression:
          "SET #status = :cancelled, cancelledAt = :at, cancelledBy = :by, cancellationId = :cancellationId",
        ConditionExpression: "#status = :pending",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: {
          ":cancelled": { S: "cancelled" },
          ":pending": { S: "pending" },
          ":at": { S: "2026-11-20T12:00:00.000Z" },
          ":by": { S: "key_1" },
          ":cancellationId": { S: "invocation-1" },
        },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      },
    ]);
    expect(table.calls()[0]?.args.at(1)).toEqual({ abortSignal: expect.any(AbortSignal) });
  });

  test.each<[ErrorCode, OrderItem | undefined]>([
    ["order_not_found", undefined],
    ["order_already_shipped", { id: { N: "42" }, status: { S: "shipped" } }],
    ["order_already_cancelled", { id: { N: "42" }, status: { S: "cancelled" }, cancellationId: { S: "invocation-0" } }],
    ["order_already_cancelled", { id: { N: "42" }, status: { S: "cancelled" } }],
    // Cancelled by this very invocation, and marked shipped since.
    ["order_already_shipped", { id: { N: "42" }, status: { S: "shipped" }, cancellationId: { S: "invocation-1" } }],
    ["order_not_pending", { id: { N: "42" }, status: { S: "lost" } }],
    ["order_not_pending", { id: { N: "42" }, status: { N: "1" } }],
    ["order_not_pending", { id: { N: "42" } }],
  ])("responds with %s for the item %j and logs the rejection", async (code, item) => {
    table.on(UpdateItemCommand).rejects(failedCondition(item));
    expectError(await cancel("42"), code);
    expect(log.info.mock.calls).toEqual([[{ event: "cancel_rejected", keyId: "key_1", orderId: "42", code }]]);
    expect(log.error).not.toHaveBeenCalled();
  });

  test("responds with 204 when the order was cancelled by this very invocation, whose first response was lost", async () => {
    const item = { id: { N: "42" }, status: { S: "cancelled" }, cancellationId: { S: "invocation-1" } };
    table.on(UpdateItemCommand).rejects(failedCondition(item));
    expect(await cancel("42")).toMatchObject({ statusCode: 204, body: "" });
  });

  test.each(["abc", "007", "9223372036854775808", "-0", "1.0", "%31", ""])(
    "responds with 404 for %j without a call to the table, and logs who asked",
    async (orderId) => {
      expectError(await cancel(orderId), "order_not_found");
      expect(table.calls()).toHaveLength(0);
      expect(log.info.mock.calls).toEqual([[{ event: "cancel_rejected", keyId: "key_1", code: "order_not_found" }]]);
    },
  );

  test("responds with 500, without a call to the table, when the gateway passed no key id", async () => {
    const event = cancellation("42");
    event.requestContext.authorizer = null;
    expectError(await handler(event, lambdaContext()), "internal_error");
    expect(table.calls()).toHaveLength(0);
  });

  test("responds with 404 to a request without a path parameter", async () => {
    expectError(await handler(proxyEvent({ httpMethod: "DELETE" }), lambdaContext()), "order_not_found");
  });

  test.each([
    "ProvisionedThroughputExceededException",
    "ThrottlingException",
    "RequestLimitExceeded",
    "InternalServerError",
    "TimeoutError",
    "AbortError",
  ])("responds with 503 to a table's %s", async (name) => {
    const status = name === "InternalServerError" ? { $metadata: { httpStatusCode: 500 } } : {};
    table.on(UpdateItemCommand).rejects(Object.assign(new Error("secret"), { name, ...status }));
    expectError(await cancel("42"), "service_unavailable");
  });

  test.each(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOTFOUND"])(
    "responds with 503 to a connection's %s",
    async (code) => {
      table.on(UpdateItemCommand).rejects(Object.assign(new Error("secret"), { code }));
      expectError(await cancel("42"), "service_unavailable");
    },
  );

  test.each(["ResourceNotFoundException", "AccessDeniedException", "ValidationException", "TypeError"])(
    "responds with 500 to %s, which is our fault",
    async (name) => {
      table.on(UpdateItemCommand).rejects(Object.assign(new Error("secret"), { name }));
      expectError(await cancel("42"), "internal_error");
    },
  );

  test("logs what the table said, and keeps it out of the response", async () => {
    table.on(UpdateItemCommand).rejects(new Error("secret", { cause: new Error("deeper secret") }));
    expect(JSON.stringify(await cancel("42"))).not.toContain("secret");
    const causes = ["secret", "deeper secret"].map((message) => expect.objectContaining({ message }));
    const failure = { event: "cancel_failed", keyId: "key_1", orderId: "42", code: "internal_error", causes };
    expect(log.error.mock.calls).toEqual([[expect.objectContaining(failure)]]);
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

  test("ignores a request id that the client chose", async () => {
    const item = { id: { N: "42" }, status: { S: "cancelled" }, cancellationId: { S: "chosen-by-client" } };
    table.on(UpdateItemCommand).rejects(failedCondition(item));
    const event = cancellation("42");
    event.requestContext.requestId = "chosen-by-client";
    expectError(await handler(event, lambdaContext()), "order_already_cancelled");
  });
});
