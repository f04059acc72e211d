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

const cancellation = (pathParameters: Record<string, string> | null) =>
  proxyEvent({ httpMethod: "DELETE", pathParameters });
const cancel = (
  orderId: string,
  context = lambdaContext(),
): Promise<APIGatewayProxyResult> => handler(cancellation({ orderId }), context);

/** Has the table respond as if order 42 were like `before`, or missing if that is undefined. */
function haveOrder(before: OrderItem | undefined): void {
  const update = table.on(UpdateItemCommand);
  if (before?.["status"]?.S === "pending") update.resolves({});
  else {
    const item = before && { Item: before };
    const failed = { message: "failed", $metadata: {}, ...item };
    update.rejects(new ConditionalCheckFailedException(failed));
  }
}

/** The response with the Error of this code. */
function errorResponse(code: ErrorCode): APIGatewayProxyResult {
  return {
    statusCode: errors[code].status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
    body: errorBody(code),
  };
}

const subject = { keyId: "key_1", orderId: "42" };

describe("cancelling an order", () => {
  test("is one write, by the caller and in this invocation, which a signal can end", async () => {
    vi.useFakeTimers({ now: new Date("2026-11-20T12:00:00Z"), toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    table.on(UpdateItemCommand).resolves({});
    await cancel("9223372036854775807");
    const [call, ...others] = table.commandCalls(UpdateItemCommand);
    expect(others).toEqual([]);
    expect(call?.args).toMatchObject([
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
    ]);
  });

  test.each(cancellations)(
    "responds with $2 for $0, and logs that",
    async (_, before, outcome) => {
      haveOrder(before);
      const response = await cancel("42");
      if (outcome === 204) {
        const headers = { "Cache-Control": "no-store" };
        expect(response).toEqual({ statusCode: 204, headers, body: "" });
        expect(log.info.mock.calls).toEqual([[{ event: "order_cancelled", ...subject }]]);
      } else {
        expect(response).toEqual(errorResponse(outcome));
        const line = { event: "cancel_rejected", ...subject, code: outcome };
        expect(log.info.mock.calls).toEqual([[line]]);
      }
      expect(log.error).not.toHaveBeenCalled();
    },
  );

  test.each([{ orderId: "abc" }, { orderId: "%31" }, { orderId: "" }, null])(
    "responds with 404 to the path parameters %j without a call to the table",
    async (pathParameters) => {
      const response = await handler(cancellation(pathParameters), lambdaContext());
      expect(response).toEqual(errorResponse("order_not_found"));
      expect(table.calls()).toHaveLength(0);
      expect(log.info.mock.calls).toEqual([
        [{ event: "cancel_rejected", keyId: "key_1", code: "order_not_found" }],
      ]);
    },
  );

  test.each([null, {}, { keyId: 7 }, { keyId: "" }])(
    "responds with 500 without a call to the table for %j instead of a key id",
    async (authorizer) => {
      const event = cancellation({ orderId: "42" });
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
      const cause = Object.assign(new TypeError("cause"), {
        Item: { petId: { N: "7" } },
        $response: "secret",
      });
      const error = Object.assign(new Error("secret", { cause }), {
        name: failure,
        code: "E",
      });
      table.on(UpdateItemCommand).rejects(error);
      expect(await cancel("42")).toEqual(errorResponse(code));
      const causes = [error, cause].map(({ name, message, stack }) => ({
        name,
        message,
        stack,
      }));
      expect(log.error.mock.calls).toEqual([
        [{ event: "cancel_failed", ...subject, code, causes }],
      ]);
    },
  );

  test("responds with 503 half a second before the function's time is up", async () => {
    table.on(UpdateItemCommand).callsFake(() => new Promise(() => {}));
    const context = { ...lambdaContext(), getRemainingTimeInMillis: () => 501 };
    expect(await cancel("42", context)).toEqual(errorResponse("service_unavailable"));
  });
});
