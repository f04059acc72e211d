import { createServer, type RequestListener, type Server } from "node:http";
import { listeningPort } from "../listening-port.ts";
import { StartError } from "../start-error.ts";

/** The HTTP servers behind `http://localhost:PORT`: one for each address that this name has. */
export interface Listener {
  port: number;
  /** Closes every connection. */
  close(): Promise<void>;
}

/**
 * Listens on localhost, over IPv4 and, where the machine has it, IPv6. Node.js itself rejects malformed HTTP.
 *
 * @param port 0 for any free one.
 * @throws StartError when the port is taken.
 */
export async function listen(port: number, serve: RequestListener): Promise<Listener> {
  const ipv4 = createServer(serve);
  const chosen = await listeningPort(ipv4, port).catch((error: unknown) => {
    throw isTaken(error) ? portTaken(port) : error;
  });
  const ipv6 = createServer(serve);
  try {
    await listeningPort(ipv6, chosen, "::1");
  } catch (error) {
    if (!isTaken(error)) return { port: chosen, close: () => close(ipv4) };
    await close(ipv4);
    if (port === 0) return await listen(0, serve);
    throw portTaken(port);
  }
  return { port: chosen, close: async () => void (await Promise.all([close(ipv4), close(ipv6)])) };
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EADDRINUSE" || error.code === "EACCES");
}

function portTaken(port: number): StartError {
  return new StartError(`Port ${port} on localhost is taken or not allowed; choose another with --port`);
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
