import { basename } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { vi } from "vitest";
import type { FunctionEntry } from "../../infra/stack/function-list.ts";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";

/** The parts of a proxy event that functions may read, admitted as `key_1`, with these changes. */
export function proxyEvent(changes: Partial<APIGatewayProxyEvent>) {
  const requestContext = {
    authorizer: { principalId: "key_1", keyId: "key_1" },
    httpMethod: "GET",
    requestId: "gateway-request",
    stage: "v1",
  };
  return {
    httpMethod: "GET",
    headers: {},
    multiValueHeaders: {},
    pathParameters: null,
    body: null,
    requestContext,
    ...changes,
  } as APIGatewayProxyEvent;
}

export function lambdaContext() {
  return {
    awsRequestId: "invocation-1",
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => 10_000,
  } as Context;
}

/** A function's response with the Error of this code. */
export const errorResponse = (code: ErrorCode) => ({
  statusCode: errors[code].status,
  headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
  body: errorBody(code),
});

/** The response of a streaming function. */
export class ResponseStream extends PassThrough {
  prelude: { statusCode?: number } = {};
}

/** The part of Lambda's runtime that streaming functions use. */
export const awslambda = {
  streamifyResponse: <Handler>(streaming: Handler) => streaming,
  HttpResponseStream: {
    from: (stream: object, prelude: object) => Object.assign(stream, { prelude }),
  },
};

/** An event about order 42, or to authorize a key. */
export function eventOf({ operation }: FunctionEntry, key: string) {
  if (operation)
    return proxyEvent({
      httpMethod: operation.method,
      pathParameters: { orderId: "42" },
    });
  const methodArn =
    "arn:aws:execute-api:eu-central-1:000000000000:api/v1/GET/store/orders";
  return { type: "TOKEN", methodArn, authorizationToken: `Bearer ${key}` };
}

let starts = 0;

/** Starts a function as Lambda does, anew each time. Returns what invokes it. */
export async function startFunction({ file, operation }: FunctionEntry) {
  vi.stubGlobal("awslambda", awslambda);
  const { handler } = await import(
    `../../functions/${basename(file, ".ts")}.ts?start=${++starts}`
  );
  return async (
    event: object,
    context = lambdaContext(),
  ): Promise<{ statusCode?: number }> => {
    if (!operation?.streamed) return handler(event, context);
    const stream = new ResponseStream();
    await Promise.all([text(stream), handler(event, stream, context)]);
    return stream.prelude;
  };
}
