import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  request,
  type ServerResponse,
} from "node:http";
import { buffer, text } from "node:stream/consumers";
import { listenOn } from "../../../infra/tools/local/machine/ports.ts";

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

interface EngineResponse {
  status: number;
  body: Buffer;
}

interface Exchange extends EngineCall {
  response: ServerResponse;
  /** Lets the engine carry the call out, with another input if given. */
  forward(input?: string): Promise<EngineResponse>;
}

/** Decides the outcome of a call. */
export type Behaviour = (exchange: Exchange) => void | Promise<void>;

/** Decides which behaviour a call meets; undefined passes it on. */
export type Choice = (call: EngineCall) => Behaviour | undefined;

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

export const passOn: Behaviour = async ({ forward, response }) =>
  respond(response, await forward());

export function respond(response: ServerResponse, { status, body }: EngineResponse) {
  response.writeHead(status, { "content-length": body.length }).end(body);
}

export function onEvery(operation: string, behaviour: Behaviour): Choice {
  return (call) => (call.operation === operation ? behaviour : undefined);
}

/** Acts just before each call of an operation reaches the engine. */
export function justBefore(operation: string, act: () => Promise<unknown>): Choice {
  return onEvery(operation, async (exchange) => {
    await act();
    await passOn(exchange);
  });
}

/** Starts a proxy in front of the engine at `target`, which does what failing networks do. */
export async function startFaultProxy(target: string, choose: Choice) {
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (incoming, response) => {
    response.setHeader("content-type", "application/x-amz-json-1.0");
    response.setHeader("x-amzn-requestid", "A1");
    try {
      const { headers } = incoming;
      const call: EngineCall = {
        operation: String(headers["x-amz-target"]).replace(/^.*\./, ""),
        invocation: String(headers["amz-sdk-invocation-id"]),
        attempt: Number(/attempt=(\d+)/.exec(String(headers["amz-sdk-request"]))?.[1]),
        input: await text(incoming),
        headers,
      };
      const forward = async (input = call.input) => {
        const sent = request(target, {
          method: "POST",
          headers: { ...headers, "content-length": Buffer.byteLength(input) },
          agent,
        });
        sent.end(input);
        const [received] = await once(sent, "response");
        return { status: received.statusCode, body: await buffer(received) };
      };
      await (choose(call) ?? passOn)({ ...call, response, forward });
    } catch {
      // The engine or the client has gone: the other side sees its connection break.
      response.destroy();
    }
  });
  // Clients keep their connections; closing idle ones would add faults that no test asked for.
  server.keepAliveTimeout = 0;
  const close = async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const port = await listenOn(server);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    /** Rejects connections from now on, and resets the open ones. */
    rejectConnections: close,
    /** Ends `rejectConnections`. */
    accept: () => listenOn(server, port),
    stop: async () => {
      // The engine would wait for connections that are still open.
      agent.destroy();
      if (server.listening) await close();
    },
  };
}
