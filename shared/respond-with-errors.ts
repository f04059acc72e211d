import type { MiddlewareObj, Request } from "@middy/core";
import httpErrorHandler from "@middy/http-error-handler";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { errorBody, errors, ServiceError } from "./errors.ts";
import { type LogEvent, logFailure, logOutcome } from "./log.ts";
import { readProxyEvent } from "./request.ts";

/**
 * Middleware that responds with an Error record to whatever an operation throws: a ServiceError's
 * own, `internal_error` for anything else. It logs the rejection or the failure as these events;
 * the cause goes to the log only.
 */
export function respondWithErrors(
  events: Record<"rejected" | "failed", LogEvent>,
): MiddlewareObj<APIGatewayProxyEvent>[] {
  const toResponse = (request: Request<APIGatewayProxyEvent>): void => {
    const { error, event } = request;
    const { code, cause } =
      error instanceof ServiceError ? error : new ServiceError("internal_error", error);
    const { status } = errors[code];
    const { keyId, orderId } = readProxyEvent(event);
    const fields = { keyId, orderId: orderId?.toString(), code };
    if (status < 500) logOutcome(events.rejected, fields);
    else logFailure(events.failed, cause, fields);
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
