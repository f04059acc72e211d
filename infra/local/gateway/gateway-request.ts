import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { pseudoParameters } from "../machine/account.ts";
import type { RestApi } from "../template/rest-api.ts";
import type { AuthorizerContext } from "./authorizer.ts";
import { GatewayFailure } from "./gateway-failure.ts";
import type { Route } from "./routes.ts";

const bodyLimit = 10 * 1024 * 1024;

/** Headers that the gateway does not pass on. */
const dropped =
  /^(?:connection|content-length|content-md5|expect|max-forwards|proxy-authenticate|server|te|trailer|transfer-encoding|upgrade|www-authenticate)$/i;

/** A client's request as the gateway sees it. */
export interface GatewayRequest {
  id: string;
  method: string;
  /** As it was sent: with the stage, without the query. */
  path: string;
  query: URLSearchParams;
  /** Every value by name, in the case and order they were sent in. */
  headers: Map<string, string[]>;
  sourceIp: string;
  message: IncomingMessage;
}

export function readRequest(message: IncomingMessage): GatewayRequest {
  const target = (message.url ?? "/").replace(/^https?:\/\/[^/?]*/i, "");
  const [path = "/", ...query] = target.split("?");
  const headers = readHeaders(message.rawHeaders);
  const [givenId = ""] = headerValues(headers, "x-amzn-requestid");
  return {
    // Clients may set it, as on AWS, so it need not be unique.
    id: /^[\w-]{1,128}$/.test(givenId) ? givenId : randomUUID(),
    method: message.method ?? "GET",
    path,
    query: new URLSearchParams(query.join("?")),
    headers,
    sourceIp: message.socket.remoteAddress ?? "127.0.0.1",
    message,
  };
}

/** Every value of a header, whatever its case. */
export function headerValues(headers: GatewayRequest["headers"], name: string): string[] {
  return [...headers].find(([given]) => given.toLowerCase() === name.toLowerCase())?.[1] ?? [];
}

/** @throws GatewayFailure when the body is larger than the gateway takes. */
export async function readBody({ message }: GatewayRequest): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const body: AsyncIterable<Buffer> = message.iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bodyLimit) throw new GatewayFailure("REQUEST_TOO_LARGE");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The event of a Lambda proxy integration, payload version 1.0, without what IAM, Cognito or CloudFront would add. */
export function proxyEvent(
  api: RestApi,
  { resource, parameters }: Route,
  request: GatewayRequest,
  body: string,
  authorizer: AuthorizerContext | undefined,
): object {
  const headers = new Map([...request.headers].filter(([name]) => !dropped.test(name)));
  const query = new Map([...new Set(request.query.keys())].map((name) => [name, request.query.getAll(name)]));
  return {
    resource: resource.path,
    path: request.path.slice(`/${api.stageName}`.length) || "/",
    httpMethod: request.method,
    headers: lastValues(headers),
    multiValueHeaders: Object.fromEntries(headers),
    queryStringParameters: query.size === 0 ? null : lastValues(query),
    multiValueQueryStringParameters: query.size === 0 ? null : Object.fromEntries(query),
    pathParameters: Object.keys(parameters).length === 0 ? null : parameters,
    stageVariables: null,
    requestContext: {
      accountId: pseudoParameters["AWS::AccountId"],
      apiId: api.id,
      ...(authorizer === undefined ? {} : { authorizer }),
      domainName: headerValues(headers, "host")[0] ?? "localhost",
      httpMethod: request.method,
      identity: { sourceIp: request.sourceIp, userAgent: headerValues(headers, "user-agent")[0] ?? null },
      path: request.path,
      protocol: `HTTP/${request.message.httpVersion}`,
      requestId: request.id,
      requestTimeEpoch: Date.now(),
      resourceId: resource.path,
      resourcePath: resource.path,
      stage: api.stageName,
    },
    body: body === "" ? null : body,
    isBase64Encoded: false,
  };
}

function readHeaders(raw: string[]): Map<string, string[]> {
  const spelling = new Map<string, string>();
  const headers = new Map<string, string[]>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [given = "", value = ""] = raw.slice(index, index + 2);
    const name = spelling.get(given.toLowerCase()) ?? given;
    spelling.set(given.toLowerCase(), name);
    headers.set(name, [...(headers.get(name) ?? []), value]);
  }
  return headers;
}

/** The fields with one value each have the last one. */
function lastValues(values: Map<string, string[]>): Record<string, string> {
  return Object.fromEntries([...values].map(([name, all]) => [name, all.at(-1) ?? ""]));
}
