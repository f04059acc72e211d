import type { ServerResponse } from "node:http";
import { type Behaviour, type EngineResponse, respond } from "./fault-proxy.ts";

const trickleIntervalMs = 50;
const dynamodb = "dynamodb.v20120810";

/** Faults of calls that never reach the engine. */
export const unapplied = {
  "no response": () => {},
  "reset before a response": ({ response }) => reset(response),
  "throttled by the table": rejectedAs("ProvisionedThroughputExceededException"),
  "throttled by the service": failing(400, "coral.availability#ThrottlingException"),
  "500 of the service": failing(500, `${dynamodb}#InternalServerError`),
  "503 in HTML": ({ response }) => {
    response.writeHead(503, { "content-type": "text/html" });
    response.end("<html><body>Service Unavailable</body></html>");
  },
} satisfies Record<string, Behaviour>;

/** Faults of responses to calls that the engine has carried out. */
export const applied = {
  "silence after the engine": async ({ forward }) => void (await forward()),
  "reset after the engine": async ({ forward, response }) => {
    await forward();
    reset(response);
  },
  "500 after the engine": async (exchange) => {
    await exchange.forward();
    await unapplied["500 of the service"](exchange);
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
  return failing(400, `${dynamodb}#${name}`, message);
}

function failing(status: number, type: string, message = "injected by a test"): Behaviour {
  const headers = { "content-type": "application/x-amz-json-1.0" };
  const body = Buffer.from(JSON.stringify({ __type: `com.amazonaws.${type}`, message }));
  return ({ response }) => respond(response, { status, headers, body });
}
