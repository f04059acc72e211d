import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  request,
  type ServerResponse,
} from "node:http";
import { buffer, text } from "node:stream/consumers";
import { listeningPort } from "../../../infra/local/machine/ports.ts";

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

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

/** Passes the call to the engine and its response back, unchanged. */
export const passOn: Behaviour = async ({ forward, response }) =>
  respond(response, await forward());

export function respond(
  response: ServerResponse,
  { status, headers, body }: EngineResponse,
): void {
  response.writeHead(status, { ...headers, "content-length": body.length }).end(body);
}

/** Decides which behaviour a call meets; undefined passes it on. */
type Choice = (call: EngineCall) => Behaviour | undefined;

/** Every call of an operation meets this behaviour. */
export function onEvery(operation: string, behaviour: Behaviour): Choice {
  return (call) => (call.operation === operation ? behaviour : undefined);
}

/** Does something just before each call of an operation reaches the engine. */
export function justBefore(operation: string, act: () => Promise<unknown>): Choice {
  return onEvery(operation, async (exchange) => {
    await act();
    await passOn(exchange);
  });
}

/**
 * Starts a proxy in front of the engine at the address `target`. It does to calls what networks and
 * failing services do.
 */
export async function startFaultProxy(target: string, choose: Choice) {
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
      // The engine or the client has gone: the other side sees its connection break.
      response.destroy();
    }
  });
  // Clients keep their connections; closing idle ones would add faults that no test asked for.
  server.keepAliveTimeout = 0;
  const close = async (): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const port = await listeningPort(server);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    /** How often each operation has been attempted. */
    attempts,
    /** Rejects connections from now on, and resets the open ones. */
    rejectConnections: close,
    /** Ends `rejectConnections`. */
    accept: () => listeningPort(server, port),
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
  const sent = request(target, { method: "POST", headers: passedOn(headers), agent });
  sent.end(input);
  const [response] = await once(sent, "response");
  const body = await buffer(response);
  const length = { "content-length": String(body.length) };
  return {
    status: response.statusCode,
    headers: { ...passedOn(response.headers), ...length },
    body,
  };
}

const ofOneConnection = /^(connection|content-length|host|transfer-encoding)$/;

/** The headers that a proxy passes on: all that are not about one connection or body. */
function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const all = Object.entries(headers);
  return Object.fromEntries(all.filter(([name]) => !ofOneConnection.test(name)));
}
