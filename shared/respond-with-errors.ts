import type { MiddlewareObj, Request } from "@middy/core";
import httpErrorHandler from "@middy/http-error-handler";
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { errorBody, ServiceError } from "./errors.ts";
import { logFailure, logOutcome } from "./log.ts";

/** The context of an error, which may come before `readCaller` or `readOrderId` has run. */
type ErrorContext = Context & { keyId?: string; orderId?: bigint };

/**
 * Middleware that responds with an Error record to whatever an operation throws: a ServiceError's own, `internal_error`
 * for anything else. It logs the rejection or the failure; the cause goes to the log only.
 */
export function respondWithErrors(
  operation: "cancel" | "list",
): MiddlewareObj<APIGatewayProxyEvent, unknown, Error, ErrorContext>[] {
  const toResponse = (request: Request<APIGatewayProxyEvent, unknown, Error, ErrorContext>): void => {
    const { error, context } = request;
    const { code, status, cause } = error instanceof ServiceError ? error : new ServiceError("internal_error", error);
    const fields = { keyId: context.keyId, orderId: context.orderId?.toString(), code };
    if (status < 500) logOutcome(`${operation}_rejected`, fields);
    else logFailure(`${operation}_failed`, cause, fields);
    request.error = Object.assign(new Error(errorBody(code)), {
      statusCode: status,
      // Without it, http-error-handler sends no body of ours for a 5xx.
      expose: true,
      headers: { "Cache-Control": "no-store" },
    });
  };
  // middy runs the last onError first.
  return [httpErrorHandler({ logger: false }), { onError: toResponse }];
}
