import { createServer, type IncomingMessage, type RequestListener, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type ErrorCode, errorBody, errors } from "../../../shared/errors.ts";
import { StartError } from "../start-error.ts";

/** The HTTP servers behind `http://localhost:PORT`: one for each address that this name has. */
export interface Listener {
  port: number;
  /** Cuts what is still open. */
  close(): Promise<void>;
}

/**
 * Listens on localhost, over IPv4 and, where the machine has it, IPv6.
 *
 * @param port 0 for any free one.
 * @throws StartError when the port is taken.
 */
export async function listen(port: number, serve: RequestListener): Promise<Listener> {
  const ipv4 = await listenOn("127.0.0.1", port, serve);
  const address = ipv4.address();
  const chosen = typeof address === "object" && address !== null ? address.port : port;
  try {
    const ipv6 = await listenOn("::1", chosen, serve);
    return { port: chosen, close: async () => void (await Promise.all([close(ipv4), close(ipv6)])) };
  } catch (error) {
    if (error instanceof StartError) {
      await close(ipv4);
      if (port === 0) return await listen(0, serve);
      throw error;
    }
    return { port: chosen, close: () => close(ipv4) };
  }
}

async function listenOn(host: string, port: number, serve: RequestListener): Promise<Server> {
  // A request without a host is for the gateway to refuse, with a body.
  const server = createServer({ requireHostHeader: false }, serve);
  const answering = new WeakMap<Duplex, number>();
  const last = new WeakMap<Duplex, IncomingMessage>();
  const refused = new WeakMap<Duplex, ErrorCode>();
  const refuse = (socket: Duplex, code: ErrorCode): void => {
    // A request that broke off in its body waits for the rest of it, and has no other answer.
    const brokenOff = last.get(socket)?.complete === false ? 1 : 0;
    // Before earlier requests of a connection have their answers, this one would be taken for theirs.
    if ((answering.get(socket) ?? 0) > brokenOff) refused.set(socket, code);
    else if (socket.writable) socket.end(refusal(code));
    else socket.destroy();
  };
  server.prependListener("request", (request, response) => {
    const { socket } = request;
    last.set(socket, request);
    answering.set(socket, (answering.get(socket) ?? 0) + 1);
    response.once("close", () => {
      answering.set(socket, (answering.get(socket) ?? 1) - 1);
      const code = refused.get(socket);
      if (code !== undefined) refuse(socket, code);
    });
  });
  server.on("checkExpectation", serve);
  server.on("connect", (_request, socket) => refuse(socket, "bad_request"));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    refuse(socket, error.code === "HPE_HEADER_OVERFLOW" ? "request_too_large" : "bad_request");
  });
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  server.once("error", (error: NodeJS.ErrnoException) => {
    const taken = error.code === "EADDRINUSE" || error.code === "EACCES";
    reject(
      taken ? new StartError(`Port ${port} on localhost is taken or not allowed; choose another with --port`) : error,
    );
  });
  server.listen(port, host, () => resolve(server));
  return promise;
}

/** The answer to what never became a request. */
function refusal(code: ErrorCode): string {
  const body = errorBody(code);
  const { status } = errors[code];
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  );
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
