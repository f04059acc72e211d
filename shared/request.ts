import type { APIGatewayProxyEvent } from "aws-lambda";
import { ServiceError } from "./errors.ts";
import { parseOrderId } from "./order.ts";

/** The caller's key id and the order id of a request, each undefined if missing or malformed. */
export function readProxyEvent({ requestContext, pathParameters }: APIGatewayProxyEvent) {
  const keyId: unknown = requestContext.authorizer?.["keyId"];
  return {
    keyId: typeof keyId === "string" && keyId !== "" ? keyId : undefined,
    orderId: parseOrderId(pathParameters?.["orderId"] ?? ""),
  };
}

/**
 * The id of the API key that the authorizer admitted.
 *
 * @throws ServiceError `internal_error` when the gateway passed none: no one may act anonymously.
 */
export function callerOf(event: APIGatewayProxyEvent): string {
  const { keyId } = readProxyEvent(event);
  if (keyId === undefined)
    throw new ServiceError("internal_error", new Error("The gateway passed no key id"));
  return keyId;
}

/**
 * The order id of the path.
 *
 * @throws ServiceError `order_not_found` when it is not a canonical int64 and so names no order.
 */
export function orderIdOf(event: APIGatewayProxyEvent): bigint {
  const { orderId } = readProxyEvent(event);
  if (orderId === undefined) throw new ServiceError("order_not_found");
  return orderId;
}
