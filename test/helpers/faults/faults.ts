import type { ServerResponse } from "node:http";
import { type Behaviour, type EngineResponse, respond } from "./fault-proxy.ts";

const trickleIntervalMs = 50;

/** Faults of a call that never reaches the engine. */
export const unapplied = {
  "no response": () => {},
  "reset before a response": ({ response }) => reset(response),
  "throttled by the table": rejectedAs("ProvisionedThroughputExceededException"),
  "throttled by the service": ({ response }) =>
    respond(response, failure(400, "ThrottlingException", "coral.availability")),
  "500 of the service": ({ response }) =>
    respond(response, failure(500, "InternalServerError", "dynamodb.v20120810")),
  "503 in HTML": ({ response }) =>
    respond(response, page(503, "text/html", "<html><body>Service Unavailable</body></html>")),
} satisfies Record<string, Behaviour>;

/** Faults of the response to a call that the engine has carried out. */
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
 * Responses of 200 without a length that end early, and so look whole; the engine has carried out
 * the call.
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

const headOfNoLength = "HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\n\r\n";

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** Resolves when the first half of the response has been sent. */
async function sendHalf(
  response: ServerResponse,
  { status, headers, body }: EngineResponse,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // Splits even an empty response, between its braces.
  response
    .writeHead(status, headers)
    .write(body.subarray(0, Math.ceil(body.length / 2) - 1 || 1), () => resolve());
  await promise;
}

/** Sends a byte now and then, and never the last one. */
function trickle(response: ServerResponse, { status, headers, body }: EngineResponse): void {
  response.writeHead(status, { ...headers, "content-length": String(body.length + 1_000_000) });
  let sent = 0;
  const timer = setInterval(
    () => response.write(sent < body.length ? body.subarray(sent, ++sent) : " "),
    trickleIntervalMs,
  );
  response.once("close", () => clearInterval(timer));
}

/** The table's own error response with this name, to a call that the engine never sees. */
export function rejectedAs(name: string, message?: string): Behaviour {
  return ({ response }) => respond(response, failure(400, name, "dynamodb.v20120810", message));
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
