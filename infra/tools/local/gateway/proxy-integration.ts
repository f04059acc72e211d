import type { Readable } from "node:stream";
import { z } from "zod";
import type { FunctionResponse } from "../lambda/execution-environment.ts";
import type { GatewayRequest } from "./gateway-request.ts";
import type { Route } from "./routes.ts";

/** An HTTP response of the API. It is JSON unless a header says otherwise. */
export interface StageResponse {
  /** 500 unless given. */
  status?: number | undefined;
  headers: Record<string, string>;
  body: string | Readable;
}

/**
 * The event of a Lambda proxy integration, payload version 1.0, with the fields that say what the
 * client asked for and who it is. Where it has room for one value of a header or query parameter,
 * that is the last one sent. Names of headers are in small letters, as HTTP/2 sends them.
 */
export function proxyEvent(
  route: Route,
  { id, method, path, query, message, resourcePath, stage }: GatewayRequest,
  body: string,
  authorizer: Record<string, string> | undefined,
): object {
  const headers = Object.entries(message.headersDistinct);
  const queries = query.keys().map((name) => [name, query.getAll(name)]);
  return {
    resource: route.path,
    path: resourcePath,
    httpMethod: method,
    headers: Object.fromEntries(headers.map(([name, values]) => [name, values?.at(-1)])),
    multiValueHeaders: message.headersDistinct,
    queryStringParameters: orNull(Object.fromEntries(query)),
    multiValueQueryStringParameters: orNull(Object.fromEntries(queries)),
    pathParameters: orNull(route.parameters),
    requestContext: {
      authorizer,
      httpMethod: method,
      identity: { sourceIp: message.socket.remoteAddress },
      path,
      requestId: id,
      resourcePath: route.path,
      stage,
    },
    body: body || null,
    isBase64Encoded: false,
  };
}

/** API Gateway's null for a record without entries. */
function orNull(record: object) {
  return Object.keys(record).length > 0 ? record : null;
}

/** The result of a function: a status, text, and one value for each header. */
const proxySchema = z.strictObject({
  statusCode: z.int().min(200).max(599),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(""),
});

/**
 * Reads the HTTP response that a function of a Lambda proxy integration returned.
 *
 * @param mode the integration's; the function must stream if it does.
 * @throws ZodError when the response is not supported; Error when only one of the two streams.
 */
export function readProxyResponse(
  { returned, body: stream }: FunctionResponse,
  mode: "BUFFERED" | "STREAM",
): StageResponse {
  if ((mode === "STREAM") !== (stream !== undefined))
    throw new Error(`The integration's transfer mode is ${mode}`);
  const { statusCode: status, headers, body } = proxySchema.parse(returned);
  return { status, headers, body: stream ?? body };
}
