import type { ServerResponse } from "node:http";
import { type Behaviour, respond } from "./fault-proxy.ts";

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
  "silence after the engine": afterEngine(() => {}),
  "reset after the engine": afterEngine(reset),
  "500 after the engine": async (exchange) => {
    await exchange.forward();
    unapplied["500 of the service"](exchange);
  },
  "silence mid-body": midBody(() => {}),
  "reset mid-body": midBody(reset),
  "closed mid-body": midBody((response) => response.socket?.end()),
  "a response that isn't HTTP": afterEngine((response) =>
    response.socket?.end("220 mail.test ESMTP\r\n"),
  ),
  "oversized headers": afterEngine((response) =>
    response.setHeader("x-any", "x".repeat(20_000)).end("{}"),
  ),
  "a status of a proxy": afterEngine((response) => response.writeHead(418).end("{}")),
  "slow trickle": afterEngine(trickle),
} satisfies Record<string, Behaviour>;

/** Responses that end early, but look whole without a length. The call was carried out. */
export const unnoticed = {
  "half a response of no length": endingAfter(0.5),
  "an empty response of no length": endingAfter(0),
} satisfies Record<string, Behaviour>;

export const faults: Record<string, Behaviour> = {
  ...unapplied,
  ...applied,
  ...unnoticed,
};

/** Carries the call out twice, and passes on the second response. */
export const doubled: Behaviour = async ({ forward, response }) => {
  await forward();
  respond(response, await forward());
};

function reset(response: ServerResponse) {
  response.socket?.resetAndDestroy();
}

function afterEngine(fail: (response: ServerResponse) => unknown): Behaviour {
  return async ({ forward, response }) => {
    await forward();
    fail(response);
  };
}

/** Fails once half of the response has been sent. */
function midBody(fail: (response: ServerResponse) => unknown): Behaviour {
  return async ({ forward, response }) => {
    const { status, body } = await forward();
    // Less than half, but at least a byte: even an empty response is split, between its braces.
    const length = Math.max(1, Math.ceil(body.length / 2) - 1);
    response.writeHead(status, { "content-length": body.length });
    response.write(body.subarray(0, length), () => fail(response));
  };
}

function trickle(response: ServerResponse) {
  response.writeHead(200, { "content-length": 1_000_000 });
  const timer = setInterval(() => response.write(" "), 50);
  response.once("close", () => clearInterval(timer));
}

function endingAfter(part: number): Behaviour {
  return async ({ forward, response }) => {
    const { body } = await forward();
    response.socket?.write("HTTP/1.1 200 OK\r\nx-amzn-requestid: A1\r\n\r\n");
    response.socket?.end(body.subarray(0, part * body.length));
  };
}

/** Responds with this error of the table's, without calling the engine. */
export function rejectedAs(name: string, message?: string): Behaviour {
  return failing(400, `${dynamodb}#${name}`, message);
}

function failing(
  status: number,
  type: string,
  message = "injected by a test",
): Behaviour {
  const body = Buffer.from(JSON.stringify({ __type: `com.amazonaws.${type}`, message }));
  return ({ response }) => respond(response, { status, body });
}
