import type { MiddlewareObj } from "@middy/core";
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { ServiceError } from "./errors.ts";
import { parseOrderId } from "./order.ts";

/** A handler's context once `readCaller` has run. */
export interface CallerContext extends Context {
  /** The id of the API key that the authorizer admitted. */
  keyId: string;
}

/** A handler's context once `readOrderId` has run. */
export interface OrderContext extends Context {
  /** The order that the path names. */
  orderId: bigint;
}

/**
 * Middleware that puts the caller's key id on the context. It throws `internal_error` when the gateway passes none:
 * no one may act anonymously.
 */
export const readCaller: MiddlewareObj<APIGatewayProxyEvent, unknown, Error, CallerContext> = {
  before: ({ event, context }) => {
    const keyId: unknown = event.requestContext.authorizer?.["keyId"];
    if (typeof keyId !== "string" || keyId === "") {
      throw new ServiceError("internal_error", new Error("The gateway passed no key id"));
    }
    context.keyId = keyId;
  },
};

/** Middleware that puts the order id of the path on the context. It throws `order_not_found` when the path has none. */
export const readOrderId: MiddlewareObj<APIGatewayProxyEvent, unknown, Error, OrderContext> = {
  before: ({ event, context }) => {
    const orderId = parseOrderId(event.pathParameters?.["orderId"] ?? "");
    if (orderId === undefined) throw new ServiceError("order_not_found");
    context.orderId = orderId;
  },
};
