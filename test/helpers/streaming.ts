import { PassThrough } from "node:stream";
import type { APIGatewayProxyEvent, Context } from "aws-lambda";

/** The response of a streaming function, with what goes before its body. */
export class ResponseStream extends PassThrough {
  prelude: unknown;
}

export type StreamingHandler = (event: APIGatewayProxyEvent, stream: ResponseStream, context: Context) => Promise<void>;

/** The part of Lambda's runtime that streaming functions use, reduced to what reaches the gateway. */
export const awslambda = {
  streamifyResponse: <Handler>(streaming: Handler) => streaming,
  HttpResponseStream: { from: (stream: object, prelude: unknown) => Object.assign(stream, { prelude }) },
};
