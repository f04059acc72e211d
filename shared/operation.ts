import type { MiddlewareObj } from "@middy/core";
import httpErrorHandler from "@middy/http-error-handler";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { errorBody, errors, ServiceError } from "./errors.ts";
import { logFailure, logOutcome } from "./log.ts";
import { parseOrderId } from "./order.ts";

/** The caller's key id and the order id of a request, each undefined if missing or malformed. */
function readProxyEvent({ requestContext, pathParameters }: APIGatewayProxyEvent) {
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

/**
 * Middleware that responds with an Error record to whatever an operation throws: a ServiceError's
 * own, `internal_error` for anything else. It logs `cancel_rejected` or `cancel_failed`, or the same
 * of a list; the cause goes to the log only.
 */
export function respondWithErrors(
  operation: "cancel" | "list",
): MiddlewareObj<APIGatewayProxyEvent>[] {
  // middy runs the last onError first.
  return [
    httpErrorHandler({ logger: false }),
    {
      onError: (request) => {
        const { error, event } = request;
        const { code, cause } =
          error instanceof ServiceError
            ? error
            : new ServiceError("internal_error", error);
        const { status } = errors[code];
        const { keyId, orderId } = readProxyEvent(event);
        const fields = { keyId, orderId: orderId?.toString(), code };
        if (status < 500) logOutcome(`${operation}_rejected`, fields);
        else logFailure(`${operation}_failed`, cause, fields);
        request.error = Object.assign(new Error(errorBody(code)), {
          statusCode: status,
          // http-error-handler sends our body for a 5xx only if the error is exposed.
          expose: true,
          headers: { "Cache-Control": "no-store" },
        });
      },
    },
  ];
}
