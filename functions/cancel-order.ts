import middy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { callLimits, createClient } from "../shared/dynamodb.ts";
import { ServiceError } from "../shared/errors.ts";
import { environmentVariable, makeReady } from "../shared/function-start.ts";
import { logOutcome } from "../shared/log.ts";
import { callerOf, orderIdOf, respondWithErrors } from "../shared/operation.ts";
import { cancelOrder, updateNothing } from "../shared/orders-table.ts";

const client = createClient(callLimits.oneOrder);
const ordersTable = environmentVariable("ORDERS_TABLE");
await makeReady((signal) => updateNothing(client, ordersTable, signal));

/** `cancelOrder` of openapi.yaml: responds with 204 and no body, or with an Error record. */
export const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>({
  timeoutEarlyInMillis: 500,
  timeoutEarlyResponse: () => {
    throw new ServiceError("service_unavailable");
  },
})
  .use(respondWithErrors("cancel"))
  .handler(async (event, { awsRequestId }, { signal }) => {
    const keyId = callerOf(event);
    const orderId = orderIdOf(event);
    const cancellation = {
      orderId,
      cancelledBy: keyId,
      cancelledAt: new Date(),
      cancellationId: awsRequestId,
    };
    await cancelOrder(client, ordersTable, cancellation, signal);
    logOutcome("order_cancelled", { keyId, orderId: orderId.toString() });
    return { statusCode: 204, headers: { "Cache-Control": "no-store" }, body: "" };
  });
