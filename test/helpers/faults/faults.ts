import type { ServerResponse } from "node:http";
import { type Behaviour, type EngineResponse, respond } from "./fault-proxy.ts";

const trickleIntervalMs = 50;

/** Faults of calls that never reach the engine. */
export const unapplied = {
  "no response": () => {},
  "reset before a response": ({ response }) => reset(response),
  "throttled by the table": rejectedAs("ProvisionedThroughputExceededException"),
  "throttled by the service": ({ response }) =>
    respond(response, failure(400, "ThrottlingException", "coral.availability")),
  "500 of the service": ({ response }) =>
    respond(response, failure(500, "InternalServerError", "dynamodb.v20120810")),
  "503 in HTML": ({ response }) =>
    respond(
      response,
      page(503, "text/html", "<html><body>Service Unavailable</body></html>"),
    ),
} satisfies Record<string, Behaviour>;

/** Faults of responses to calls that the engine has carried out. */
export const applied = {
  "silence after the engine": async ({ forward }) => void (await forward()),
  "reset after the engine": async ({ forward, response }) => {
    await forward();
    reset(response);
  },
  "500 after the engine": async ({ forward, response }) => {
    await forward();
    respond(response, failure(500, "InternalServerError", "dynamodb.v20120810"));
  },
  "reset mid-body": async ({ forward, response }) => {
    await sendHalf(response, await forward());
    reset(response);
  },
  "closed mid-body": async ({ forward, response }) => {
    await sendHalf(response, await forward());
    response.socket?.end();
  },
  "slow trickle": async ({ forward, response }) => trickle(response, await forward()),
} satisfies Record<string, Behaviour>;

/**
 * Responses of 200 that end early, but look whole, since they have no length. The engine has
 * carried out the call.
 */
export const unnoticed = {
  "half a response of no length": async ({ forward, response }) => {
    const { body } = await forward();
    response.socket?.end(
      `${headOfNoLength}${body.toString("latin1", 0, body.length / 2)}`,
      "latin1",
    );
  },
  "an empty response of no length": async ({ forward, response }) => {
    await forward();
    response.socket?.end(headOfNoLength);
  },
} satisfies Record<string, Behaviour>;

export const faults: Record<string, Behaviour> = { ...unapplied, ...applied, ...unnoticed };

const headOfNoLength =
  "HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\n\r\n";

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** Resolves when the first half of the response has been sent. */
async function sendHalf(
  response: ServerResponse,
  { status, headers, body }: EngineResponse,
): Promise<void> {
  // Less than half, but at least a byte: even an empty response is split, between its braces.
  const length = Math.max(1, Math.ceil(body.length / 2) - 1);
  const { promise, resolve } = Promise.withResolvers<void>();
  response.writeHead(status, headers).write(body.subarray(0, length), () => resolve());
  await promise;
}

/** Sends a byte now and then, forever: the length says that there are more. */
function trickle(
  response: ServerResponse,
  { status, headers, body }: EngineResponse,
): void {
  response.writeHead(status, {
    ...headers,
    "content-length": String(body.length + 1_000_000),
  });
  let sent = 0;
  const timer = setInterval(() => {
    response.write(sent < body.length ? body.subarray(sent, sent + 1) : " ");
    sent += 1;
  }, trickleIntervalMs);
  response.once("close", () => clearInterval(timer));
}

/** Responds with this error of the table's, without calling the engine. */
export function rejectedAs(name: string, message?: string): Behaviour {
  return ({ response }) =>
    respond(response, failure(400, name, "dynamodb.v20120810", message));
}

function failure(
  status: number,
  name: string,
  namespace: string,
  message = "injected by a test",
): EngineResponse {
  const body = JSON.stringify({ __type: `com.amazonaws.${namespace}#${name}`, message });
  return page(status, "application/x-amz-json-1.0", body);
}

function page(status: number, contentType: string, text: string): EngineResponse {
  const body = Buffer.from(text);
  return {
    status,
    headers: { "content-type": contentType, "content-length": String(body.length) },
    body,
  };
}
