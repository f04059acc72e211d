import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { GatewayFailure } from "./gateway-failure.ts";
import type { Route } from "./routes.ts";

const bodyLimit = 10 * 1024 * 1024;

export type GatewayRequest = ReturnType<typeof readRequest>;

/** A client's request as the gateway sees it. */
export function readRequest(message: IncomingMessage) {
  const target = (message.url ?? "/").replace(/^https?:\/\/[^/?]*/i, "");
  const [path = "", ...query] = target.split("?");
  const [, stage, ...below] = path.split("/");
  const [givenId = ""] = headerValues(message, "x-amzn-requestid");
  return {
    // Clients may set it, as on AWS, so it may not be unique.
    id: /^[\w-]{1,128}$/.test(givenId) ? givenId : randomUUID(),
    method: message.method ?? "GET",
    /** As it was sent: with the stage, without the query. */
    path: path || "/",
    stage,
    /** The path below the stage. */
    resourcePath: `/${below.join("/")}`,
    query: new URLSearchParams(query.join("?")),
    message,
  };
}

/** Every value of a header, whatever its case. */
export function headerValues({ headersDistinct }: IncomingMessage, name: string): string[] {
  return headersDistinct[name.toLowerCase()] ?? [];
}

/**
 * Reads the whole body as text.
 *
 * @throws GatewayFailure when it is larger than the gateway accepts.
 */
export async function readBody(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // The connection stays, for the 413.
  const body: AsyncIterable<Buffer> = message.iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bodyLimit) throw new GatewayFailure("REQUEST_TOO_LARGE");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/**
 * The event of a Lambda proxy integration, payload version 1.0, with the fields that say what the
 * client asked for and who it is. Where it has room for one value of a header or query parameter,
 * that is the last one sent.
 */
export function proxyEvent(
  route: Route,
  { id, method, path, query, message, resourcePath, stage }: GatewayRequest,
  body: string,
  authorizer: Record<string, string> | undefined,
): object {
  const headers = readHeaders(message);
  const queries = [...new Set(query.keys())].map((name) => [name, query.getAll(name)]);
  return {
    resource: route.path,
    path: resourcePath,
    httpMethod: method,
    headers: Object.fromEntries(headers.map(([name, values]) => [name, values.at(-1)])),
    multiValueHeaders: Object.fromEntries(headers),
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
function orNull(record: object): object | null {
  return Object.keys(record).length > 0 ? record : null;
}

/** Every header with all its values, in the case it was first sent in. */
function readHeaders({
  rawHeaders,
  headersDistinct,
}: IncomingMessage): [string, string[]][] {
  // Names and values take turns.
  const sentNames = rawHeaders.filter((_, index) => index % 2 === 0);
  return Object.entries(headersDistinct).map(([key, values = []]) => [
    sentNames.find((name) => name.toLowerCase() === key) ?? key,
    values,
  ]);
}
