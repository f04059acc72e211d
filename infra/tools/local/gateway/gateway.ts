import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { inspect } from "node:util";
import { errorBody, errors } from "../../../../shared/errors.ts";
import { FunctionFailure } from "../lambda/execution-environment.ts";
import type { LambdaHost } from "../lambda/lambda-host.ts";
import type { RestApi } from "../template/rest-api.ts";
import { createAuthorizers } from "./authorizer.ts";
import { GatewayFailure } from "./gateway-failure.ts";
import { type GatewayRequest, readBody, readRequest } from "./gateway-request.ts";
import {
  proxyEvent,
  readProxyResponse,
  type StageResponse,
} from "./proxy-integration.ts";
import { matchRoute } from "./routes.ts";

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
  const type = error instanceof GatewayFailure ? error.type : "INTEGRATION_FAILURE";
  // A function logs its own failures; anything else is a bug of the local stack.
  if (!(error instanceof GatewayFailure || error instanceof FunctionFailure))
    log(`The local gateway failed: ${inspect(error)}`);
  const response = gatewayResponses.find((other) => other.type === type);
  return response ?? { headers: {}, body: "" };
}

async function send(
  { status = 500, headers, body }: StageResponse,
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
  mock: { RequestTemplates: object; IntegrationResponses: [StageResponse] },
  message: IncomingMessage,
) {
  // The first, if there are several.
  const contentType = message.headers["content-type"] ?? "application/json";
  const [mediaType = ""] = contentType.split(";");
  if (!Object.hasOwn(mock.RequestTemplates, mediaType.trim().toLowerCase()))
    throw new GatewayFailure("UNSUPPORTED_MEDIA_TYPE");
  return mock.IntegrationResponses[0];
}
