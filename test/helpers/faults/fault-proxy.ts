import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer, text } from "node:stream/consumers";

/** One attempt of a client to call the engine. */
export interface EngineCall {
  /** Like `UpdateItem`. */
  operation: string;
  /** The same for every attempt of one call. */
  invocation: string;
  /** From 1. */
  attempt: number;
  /** The JSON text of the command's input. */
  input: string;
  headers: IncomingHttpHeaders;
}

export interface EngineResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A call under way, for a behaviour to handle. */
interface Exchange extends EngineCall {
  /** The client's side of it. */
  response: ServerResponse;
  /** Lets the engine carry the call out, with another input if given. */
  forward(input?: string): Promise<EngineResponse>;
}

/** Decides the outcome of a call. */
export type Behaviour = (exchange: Exchange) => void | Promise<void>;

/**
 * A proxy in front of a DynamoDB engine that can do to each call what a network and a failing
 * service do.
 */
export interface FaultProxy {
  endpoint: string;
  /** How often each operation has been attempted. */
  attempts: Map<string, number>;
  /** From now on connections are rejected, and open ones are reset. */
  rejectConnections(): Promise<void>;
  /** Ends `rejectConnections`. */
  accept(): Promise<void>;
  stop(): Promise<void>;
}

/** Passes the call to the engine and its response back, unchanged. */
export const passOn: Behaviour = async ({ forward, response }) =>
  respond(response, await forward());

export function respond(response: ServerResponse, { status, headers, body }: EngineResponse): void {
  response.writeHead(status, headers).end(body);
}

/** Tells a proxy what to do with each call. */
type Choice = (call: EngineCall) => Behaviour | undefined;

/** Every call of an operation meets this. */
export const onEvery =
  (name: string, behaviour: Behaviour): Choice =>
  ({ operation }) =>
    operation === name ? behaviour : undefined;

/** Does something just before each call of an operation reaches the engine. */
export const justBefore = (name: string, act: () => Promise<unknown>): Choice =>
  onEvery(name, async (exchange) => {
    await act();
    await passOn(exchange);
  });

/** @param choose decides what happens to each call; undefined passes it on. */
export async function startFaultProxy(target: string, choose: Choice): Promise<FaultProxy> {
  const attempts = new Map<string, number>();
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (incoming, response) => {
    try {
      const { headers } = incoming;
      const call: EngineCall = {
        operation: String(headers["x-amz-target"]).replace(/^.*\./, ""),
        invocation: String(headers["amz-sdk-invocation-id"]),
        attempt: Number(/attempt=(\d+)/.exec(String(headers["amz-sdk-request"]))?.[1]),
        input: await text(incoming),
        headers,
      };
      attempts.set(call.operation, (attempts.get(call.operation) ?? 0) + 1);
      const forward = (input = call.input): Promise<EngineResponse> =>
        send(target, agent, headers, input);
      await (choose(call) ?? passOn)({ ...call, response, forward });
    } catch {
      // The engine or the client has gone: either way the other side sees its connection break.
      response.destroy();
    }
  });
  // Clients keep their connections; closing idle ones would add faults that no test asked for.
  server.keepAliveTimeout = 0;
  const listen = async (port: number): Promise<number> => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const close = async (): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const port = await listen(0);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    attempts,
    rejectConnections: close,
    accept: async () => void (await listen(port)),
    stop: async () => {
      // The engine would wait for connections that are still open.
      agent.destroy();
      if (server.listening) await close();
    },
  };
}

async function send(
  target: string,
  agent: Agent,
  headers: IncomingHttpHeaders,
  input: string,
): Promise<EngineResponse> {
  const { host: _, "content-length": __, connection: ___, ...kept } = headers;
  const sent = request(target, { method: "POST", headers: kept, agent });
  sent.end(input);
  const [response] = await once(sent, "response");
  const body = await buffer(response);
  const { connection: ____, "transfer-encoding": _____, ...received } = response.headers;
  return {
    status: response.statusCode,
    headers: { ...received, "content-length": String(body.length) },
    body,
  };
}
