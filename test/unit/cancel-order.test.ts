import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, test, vi } from "vitest";
import { handler } from "../../functions/cancel-order.ts";
import { errorResponse, lambdaContext, proxyEvent } from "../helpers/lambda.ts";
import { spyOnLog } from "../helpers/log.ts";

const table = mockClient(DynamoDBClient);
const log = spyOnLog();

beforeEach(() => void table.reset());

/** Digits that a number can't hold. */
const orderId = "9007199254740993";
const subject = { keyId: "key_1", orderId };

const cancel = (
  pathParameters: Record<string, string> | null = { orderId },
  context = lambdaContext(),
) => handler(proxyEvent({ pathParameters }), context);

test("a cancellation is one write, by the caller and in this invocation, which a signal can end", async () => {
  vi.useFakeTimers({ now: new Date("2026-11-20T12:00:00Z"), toFake: ["Date"] });
  table.on(UpdateItemCommand).resolves({});
  const headers = { "Cache-Control": "no-store" };
  expect(await cancel()).toEqual({ statusCode: 204, headers, body: "" });
  const input = {
    TableName: "orders",
    Key: { id: { N: orderId } },
    ExpressionAttributeValues: {
      ":at": { S: "2026-11-20T12:00:00.000Z" },
      ":by": { S: "key_1" },
      ":id": { S: "invocation-1" },
    },
  };
  expect(table.calls().map(({ args }) => args)).toMatchObject([
    [{ input }, { abortSignal: expect.any(AbortSignal) }],
  ]);
  expect(log.info.mock.calls).toEqual([[{ event: "order_cancelled", ...subject }]]);
});

// What else may be in the table: test/integration/tables.test.ts.
test("an order that has shipped can't be cancelled, which is logged", async () => {
  const failed = { message: "", $metadata: {}, Item: { status: { S: "shipped" } } };
  table.on(UpdateItemCommand).rejects(new ConditionalCheckFailedException(failed));
  const code = "order_already_shipped";
  expect(await cancel()).toEqual(errorResponse(code));
  expect(log.info.mock.calls).toEqual([[{ event: "cancel_rejected", ...subject, code }]]);
  expect(log.error).not.toHaveBeenCalled();
});

test.each([{ orderId: "abc" }, { orderId: "" }, null])(
  "the path parameters %j get 404 without a call to the table",
  async (pathParameters) => {
    expect(await cancel(pathParameters)).toEqual(errorResponse("order_not_found"));
    expect(table.calls()).toHaveLength(0);
    expect(log.info.mock.calls).toEqual([
      [{ event: "cancel_rejected", keyId: "key_1", code: "order_not_found" }],
    ]);
  },
);

test.each([null, {}, { keyId: 7 }, { keyId: "" }])(
  "%j instead of a key id gets 500 without a call to the table",
  async (authorizer) => {
    const event = proxyEvent({ pathParameters: { orderId } });
    event.requestContext.authorizer = authorizer;
    expect(await handler(event, lambdaContext())).toEqual(
      errorResponse("internal_error"),
    );
    expect(table.calls()).toHaveLength(0);
    const causes = [expect.objectContaining({ message: "The gateway passed no key id" })];
    const line = { event: "cancel_failed", orderId, code: "internal_error", causes };
    expect(log.error.mock.calls).toEqual([[line]]);
  },
);

test("a table that throttles gets 503, and only names, messages and stacks are logged, without what AWS quotes", async () => {
  // As the SDK reports a failed condition, with the item.
  const cause = Object.assign(new TypeError("cause"), { Item: { petId: { N: "7" } } });
  const name = "ThrottlingException";
  const quoted = "signature: 12ab";
  // As AWS may quote what it was sent.
  const error = Object.assign(new Error(`Not ${quoted}`, { cause }), { name });
  table.on(UpdateItemCommand).rejects(error);
  const code = "service_unavailable";
  expect(await cancel()).toEqual(errorResponse(code));
  const causes = [
    {
      name,
      message: "Not signature: ...",
      stack: error.stack?.replace(quoted, "signature: ..."),
    },
    { name: "TypeError", message: "cause", stack: cause.stack },
  ];
  const line = { event: "cancel_failed", ...subject, code, causes };
  expect(log.error.mock.calls).toEqual([[line]]);
});

test("an error that is no failure of the table gets 500", async () => {
  table.on(UpdateItemCommand).resolves({});
  log.info.mockImplementationOnce(() => {
    throw new Error("secret");
  });
  expect(await cancel()).toEqual(errorResponse("internal_error"));
});

test("a silent table gets 503 half a second before the function's time is up", async () => {
  table.on(UpdateItemCommand).callsFake(() => new Promise(() => {}));
  const context = { ...lambdaContext(), getRemainingTimeInMillis: () => 501 };
  expect(await cancel(undefined, context)).toEqual(errorResponse("service_unavailable"));
});
