import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { inspect } from "node:util";
import { z } from "zod";
import { errorBody, errors } from "../../../shared/errors.ts";
import {
  FunctionFailure,
  type FunctionResponse,
} from "../lambda/execution-environment.ts";
import type { LambdaHost } from "../lambda/lambda-host.ts";
import type { RestApi } from "../template/rest-api.ts";
import { createAuthorizers } from "./authorizer.ts";
import {
  GatewayFailure,
  type GatewayRequest,
  readBody,
  readRequest,
} from "./gateway-request.ts";
import { matchRoute, type Route } from "./routes.ts";

export interface GatewayOptions {
  log: (line: string) => void;
  /** Every nth request is throttled; none unless given. */
  throttle?: number;
  /**
   * Every nth request that would invoke a function gets 503, as if its table could not be reached;
   * none unless given.
   */
  unavailable?: number;
  /** Whether functions may take as long as someone who debugs them needs. */
  inspect?: boolean;
  /** Every nth streamed response is cut off midway; none unless given. */
  cut?: number;
}

/** An HTTP response of the API. It is JSON unless a header says otherwise. */
interface ApiResponse {
  /** 500 unless given. */
  status?: number | undefined;
  headers: Record<string, string>;
  body: string | Readable;
}

/**
 * A gateway that serves a REST API as API Gateway does: routes, authorizer, MOCK and Lambda
 * integrations, gateway responses.
 *
 * @returns a function that serves one request, and never rejects.
 */
export function createGateway(
  api: RestApi,
  invoke: LambdaHost["invoke"],
  options: GatewayOptions,
) {
  const isThrottled = everyNth(options.throttle);
  const isUnavailable = everyNth(options.unavailable);
  const isCut = everyNth(options.cut);
  const admit = createAuthorizers(api, invoke);

  const respond = async (request: GatewayRequest) => {
    const { abort, message } = request;
    const route = matchRoute(api, request);
    // Before the authorizer, as on AWS.
    if (isThrottled()) throw new GatewayFailure("THROTTLED");
    const { authorizer, Integration } = route;
    const caller = authorizer && (await admit(authorizer, request));
    const body = await readBody(message);
    if (Integration.Type === "MOCK") return mockResponse(Integration, message);
    if (isUnavailable()) return unavailable;
    const { ResponseTransferMode, TimeoutInMillis, Uri } = Integration;
    const timeout = new GatewayFailure("INTEGRATION_TIMEOUT");
    if (!options.inspect) {
      const timer = setTimeout(() => abort.abort(timeout), TimeoutInMillis);
      abort.signal.addEventListener("abort", () => clearTimeout(timer));
    }
    const event = proxyEvent(route, request, body, caller);
    const invoked = await invoke(Uri, event, abort.signal);
    return readProxyResponse(invoked, ResponseTransferMode);
  };

  return async (message: IncomingMessage, response: ServerResponse) => {
    const request = readRequest(message);
    response.setHeader("x-amzn-RequestId", request.id);
    response.once("close", () => request.abort.abort());
    try {
      await send(await respond(request), response, isCut);
    } catch (error) {
      if (response.headersSent || response.closed) response.destroy();
      else await send(failureResponse(api, options.log, error), response, isCut);
      // An unread rest of the body would block the connection's next request.
      message.resume();
    }
  };
}

function failureResponse(
  { gatewayResponses }: RestApi,
  log: (line: string) => void,
  error: unknown,
) {
  const isGateways = error instanceof GatewayFailure;
  // A function logs its own failures; anything else is a bug of the local stack.
  if (!isGateways && !(error instanceof FunctionFailure))
    log(`The local gateway failed: ${inspect(error)}`);
  const type = isGateways ? error.message : "INTEGRATION_FAILURE";
  const response = gatewayResponses.find((other) => other.type === type);
  if (response?.status === undefined)
    log(`The template has no gateway response ${type} with a status`);
  return response ?? { headers: {}, body: "" };
}

async function send(
  { status = 500, headers, body }: ApiResponse,
  response: ServerResponse,
  isCut: () => boolean,
) {
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json");
  response.setHeaders(new Map(Object.entries(headers)));
  if (typeof body === "string") {
    response.end(body);
    return;
  }
  response.writeHead(status);
  if (isCut()) await cutOff(body, response);
  else await pipeline(body, response);
}

/** Sends the beginning of a body, and breaks the connection, as when a list fails midway. */
async function cutOff(body: Readable, response: ServerResponse) {
  const [first]: Buffer[] = await body.take(1).toArray();
  const part = first?.subarray(0, Math.ceil(first.length / 2)) ?? "";
  await new Promise((sent) => response.write(part, sent));
  response.destroy();
}

/** The response of a function that can't reach its table. */
const unavailable = {
  status: errors.service_unavailable.status,
  headers: { "Cache-Control": "no-store" },
  body: errorBody("service_unavailable"),
};

/** Whether it is the nth call, the 2nth, and so on. */
function everyNth(n: number | undefined) {
  let calls = 0;
  return () => n !== undefined && ++calls % n === 0;
}

function mockResponse(
  mock: { RequestTemplates: object; IntegrationResponses: [ApiResponse] },
  message: IncomingMessage,
) {
  // The first, if there are several.
  const contentType = message.headers["content-type"] ?? "application/json";
  const [mediaType = ""] = contentType.split(";");
  if (!Object.hasOwn(mock.RequestTemplates, mediaType.trim().toLowerCase()))
    throw new GatewayFailure("UNSUPPORTED_MEDIA_TYPE");
  return mock.IntegrationResponses[0];
}

/**
 * The event of a Lambda proxy integration, payload version 1.0, with the fields that say what the
 * client asked for and who it is. Where it has room for one value of a header or query parameter,
 * that is the last one sent.
 */
function proxyEvent(
  route: Route,
  { id, method, path, query, message, resourcePath, stage }: GatewayRequest,
  body: string,
  authorizer: Record<string, string> | undefined,
): object {
  // Every header with all its values, in the case it was first sent in.
  const headers = Object.entries(message.headersDistinct).map(([key, values]) => {
    const name = message.rawHeaders.find((sent) => sent.toLowerCase() === key);
    return [name ?? key, values] as const;
  });
  const queries = [...new Set(query.keys())].map((name) => [name, query.getAll(name)]);
  return {
    resource: route.path,
    path: resourcePath,
    httpMethod: method,
    headers: Object.fromEntries(headers.map(([name, values]) => [name, values?.at(-1)])),
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
function readProxyResponse(
  { returned, body: stream }: FunctionResponse,
  mode: "BUFFERED" | "STREAM",
): ApiResponse {
  if ((mode === "STREAM") !== (stream !== undefined))
    throw new Error(`The integration's transfer mode is ${mode}`);
  const { statusCode: status, headers, body } = proxySchema.parse(returned);
  return { status, headers, body: stream ?? body };
}
