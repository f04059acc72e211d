import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import middy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { answerErrors } from "../shared/answer-errors.ts";
import { callerKeyId } from "../shared/caller.ts";
import { createClient } from "../shared/dynamodb.ts";
import { environmentVariable } from "../shared/environment.ts";
import { ServiceError } from "../shared/errors.ts";
import { logOutcome } from "../shared/log.ts";
import { parseOrderId } from "../shared/order.ts";
import { cancelOrder } from "../shared/orders-table.ts";

const client = DynamoDBDocumentClient.from(
  createClient({ connectionTimeout: 500, requestTimeout: 2000, maxAttempts: 3 }),
);
const ordersTable = environmentVariable("ORDERS_TABLE");

/** `cancelOrder` of the contract: 204 without a body, or an Error record. */
export const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>({
  timeoutEarlyInMillis: 500,
  timeoutEarlyResponse: () => {
    throw new ServiceError("service_unavailable");
  },
})
  .use(answerErrors("cancel"))
  .handler(async (event, { awsRequestId }, { signal }) => {
    const orderId = parseOrderId(event.pathParameters?.["orderId"] ?? "");
    if (orderId === undefined) throw new ServiceError("order_not_found");
    const keyId = callerKeyId(event);
    const cancellation = { orderId, cancelledBy: keyId, cancelledAt: new Date(), cancellationId: awsRequestId };
    await cancelOrder(client, ordersTable, cancellation, signal);
    logOutcome("order_cancelled", { keyId, orderId: orderId.toString() });
    return { statusCode: 204, headers: { "Cache-Control": "no-store" }, body: "" };
  });
