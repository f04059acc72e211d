import type { MiddlewareObj } from "@middy/core";
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { ServiceError } from "./errors.ts";
import { parseOrderId } from "./order.ts";

/**
 * Middleware that puts the id of the API key that the authorizer admitted on the context. It throws `internal_error`
 * when the gateway passes none: no one may act anonymously.
 */
export const readCaller: MiddlewareObj<APIGatewayProxyEvent, unknown, Error, Context & { keyId: string }> = {
  before: ({ event, context }) => {
    const keyId: unknown = event.requestContext.authorizer?.["keyId"];
    if (typeof keyId !== "string" || keyId === "") {
      throw new ServiceError("internal_error", new Error("The gateway passed no key id"));
    }
    context.keyId = keyId;
  },
};

/** Middleware that puts the order id of the path on the context. It throws `order_not_found` when the path has none. */
export const readOrderId: MiddlewareObj<APIGatewayProxyEvent, unknown, Error, Context & { orderId: bigint }> = {
  before: ({ event, context }) => {
    const orderId = parseOrderId(event.pathParameters?.["orderId"] ?? "");
    if (orderId === undefined) throw new ServiceError("order_not_found");
    context.orderId = orderId;
  },
};
