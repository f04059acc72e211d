import type { MiddlewareObj, Request } from "@middy/core";
import httpErrorHandler from "@middy/http-error-handler";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { callerKeyId } from "./caller.ts";
import { ServiceError } from "./errors.ts";
import { logFailure, logOutcome } from "./log.ts";
import { parseOrderId } from "./order.ts";

/**
 * Middleware that turns whatever an operation throws into an Error record: a ServiceError into its own answer, anything
 * else into `internal_error`. It logs the refusal or the failure; only the log gets to know the cause.
 */
export function answerErrors(operation: "cancel" | "list"): MiddlewareObj<APIGatewayProxyEvent>[] {
  const catalogue = (request: Request<APIGatewayProxyEvent>): void => {
    const { error, event } = request;
    const answer = error instanceof ServiceError ? error : new ServiceError("internal_error", error);
    const fields = {
      keyId: callerKeyId(event),
      orderId: parseOrderId(event.pathParameters?.["orderId"] ?? "")?.toString(),
      code: answer.code,
    };
    if (answer.statusCode < 500) logOutcome(`${operation}_refused`, fields);
    else logFailure(`${operation}_failed`, answer.cause, fields);
    request.error = answer;
  };
  // middy runs the last onError first.
  return [httpErrorHandler({ logger: false }), { onError: catalogue }];
}
