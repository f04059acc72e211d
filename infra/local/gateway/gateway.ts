import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { inspect } from "node:util";
import type { Clock } from "../../../shared/clock.ts";
import { errorBody, errors } from "../../../shared/errors.ts";
import { FunctionFailure, type FunctionResponse } from "../lambda/function-response.ts";
import type { LambdaHost } from "../lambda/lambda-host.ts";
import { arnOf } from "../template/local-account.ts";
import type {
  ConstantResponse,
  FunctionIntegration,
  MockIntegration,
  RestApi,
} from "../template/rest-api.ts";
import { createAuthorizers } from "./authorizer.ts";
import { GatewayFailure } from "./gateway-failure.ts";
import {
  type GatewayRequest,
  headerValues,
  proxyEvent,
  readBody,
  readRequest,
} from "./gateway-request.ts";
import { readProxyResponse } from "./proxy-response.ts";
import { matchRoute, type Route } from "./routes.ts";

const authorizerMs = 29_000;
const dayMs = 24 * 3600 * 1000;

export interface GatewayOptions {
  /** By which the policies that authorizers cache expire. */
  clock: Pick<Clock, "now">;
  log: (line: string) => void;
  /** Every nth request is throttled; none unless given. */
  throttle?: number | undefined;
  /**
   * Every nth request that would invoke a function gets 503, as if its table could not be reached;
   * none unless given.
   */
  unavailable?: number | undefined;
  /** Whether functions may take as long as someone who debugs them. */
  inspect?: boolean | undefined;
  /** Every nth streamed response is cut off midway; none unless given. */
  cut?: number | undefined;
}

/**
 * A gateway that serves a REST API as API Gateway does: routes, authorizer, MOCK and Lambda
 * integrations, gateway responses.
 *
 * @returns a function that serves one request, and never rejects.
 */
export function createGateway(
  api: RestApi,
  host: Pick<LambdaHost, "invoke">,
  options: GatewayOptions,
) {
  const isThrottled = everyNth(options.throttle);
  const isUnavailable = everyNth(options.unavailable);
  const isCut = everyNth(options.cut);
  const timeLimit = (milliseconds: number) => (options.inspect ? dayMs : milliseconds);
  const admit = createAuthorizers(host, options.clock, timeLimit(authorizerMs));

  /** @param abort ends every wait; its reason is the failure. */
  const respond = async (
    request: GatewayRequest,
    response: ServerResponse,
    abort: AbortController,
  ): Promise<void> => {
    const route = findRoute(api, request);
    // Before the authorizer, as on AWS.
    if (isThrottled()) throw new GatewayFailure("THROTTLED");
    const { authorizer, integration } = route;
    const tokens = authorizer && headerValues(request.message, authorizer.IdentitySource);
    const caller = tokens && (await admit(authorizer, tokens, methodArn(api, request), abort));
    const body = await readBody(request);
    if (integration.Type === "MOCK") return respondMock(integration, request, response);
    if (isUnavailable()) return sendConstant(response, unavailable.status, unavailable);
    const event = proxyEvent(api, route, request, body, caller);
    const timeout = new GatewayFailure("INTEGRATION_TIMEOUT");
    const timer = setTimeout(() => abort.abort(timeout), timeLimit(integration.TimeoutInMillis));
    try {
      const invoked = await host.invoke(integration.Uri, event, abort.signal);
      await passOn(invoked, integration, response, abort.signal, isCut);
    } finally {
      clearTimeout(timer);
    }
  };

  const fail = (error: unknown, response: ServerResponse): void => {
    const isGateways = error instanceof GatewayFailure;
    // A function logs its own failures; anything else is a bug of the local stack.
    if (!isGateways && !(error instanceof FunctionFailure))
      options.log(`The local gateway failed: ${inspect(error)}`);
    const type = isGateways ? error.message : "INTEGRATION_FAILURE";
    const constant = api.gatewayResponses.get(type);
    if (constant?.status !== undefined) sendConstant(response, constant.status, constant);
    else {
      options.log(`The template has no gateway response ${type} with a status`);
      response.writeHead(500).end();
    }
  };

  return async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = readRequest(message);
    response.setHeader("x-amzn-RequestId", request.id);
    const abort = new AbortController();
    response.once("close", () => abort.abort());
    try {
      await respond(request, response, abort);
    } catch (error) {
      if (response.headersSent || response.closed) response.destroy();
      else fail(error, response);
      // An unread rest of the body would block the connection's next request.
      message.resume();
    }
  };
}

/** @throws GatewayFailure with API Gateway's type for a path that it doesn't know. */
function findRoute({ methods, stageName }: RestApi, request: GatewayRequest): Route {
  const { method, resourcePath, stage } = request;
  const route = stage === stageName ? matchRoute(methods, method, resourcePath) : undefined;
  if (route === undefined) throw new GatewayFailure("MISSING_AUTHENTICATION_TOKEN");
  return route;
}

/** Sends a function's response to the client. */
async function passOn(
  invoked: FunctionResponse,
  { ResponseTransferMode }: FunctionIntegration,
  response: ServerResponse,
  signal: AbortSignal,
  isCut: () => boolean,
): Promise<void> {
  try {
    const { status, headers, body } = readProxyResponse(invoked, ResponseTransferMode === "STREAM");
    response.writeHead(status, headers);
    if (Buffer.isBuffer(body)) response.end(body);
    else if (isCut()) await cutOff(body, response);
    else await pipeline(body, response, { signal });
  } finally {
    if (invoked.kind === "streamed") invoked.body.destroy();
  }
}

/** Sends the beginning of a body, and breaks the connection, as when a list fails midway. */
async function cutOff(body: Readable, response: ServerResponse): Promise<void> {
  const [first]: Buffer[] = await body.take(1).toArray();
  const part = first?.subarray(0, Math.ceil(first.length / 2)) ?? "";
  await new Promise((sent) => response.write(part, sent));
  response.destroy();
}

function methodArn({ id }: RestApi, { method, resourcePath, stage }: GatewayRequest): string {
  return arnOf("execute-api", `${id}/${stage}/${method}${resourcePath}`);
}

/** The response of a function that can't reach its table. */
const unavailable = {
  status: errors.service_unavailable.status,
  headers: { "Cache-Control": "no-store" },
  body: errorBody("service_unavailable"),
};

/** Whether it is the nth call, the 2nth, and so on. */
function everyNth(n: number | undefined): () => boolean {
  let calls = 0;
  return () => n !== undefined && ++calls % n === 0;
}

function respondMock(
  mock: MockIntegration,
  { message }: GatewayRequest,
  response: ServerResponse,
): void {
  const [contentType = "application/json"] = headerValues(message, "content-type");
  const [mediaType = ""] = contentType.split(";");
  if (!mock.contentTypes.has(mediaType.trim().toLowerCase()))
    throw new GatewayFailure("UNSUPPORTED_MEDIA_TYPE");
  sendConstant(response, mock.status, mock);
}

function sendConstant(
  response: ServerResponse,
  status: number,
  { headers, body }: ConstantResponse,
): void {
  const length = Buffer.byteLength(body);
  response
    .writeHead(status, { ...headers, "Content-Type": "application/json", "Content-Length": length })
    .end(body);
}
