import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Server as TcpServer } from "node:net";
import { CommandError } from "../../terminal/errors.ts";

/** Whether an error says that a port is taken or not allowed. */
const isTaken = (error: unknown) => /EADDRINUSE|EACCES/.test(`${error}`);

/**
 * Listens on localhost, over IPv4 and, where the machine has it, IPv6. Closing closes every
 * connection.
 *
 * @param port 0 for any free one.
 * @param create makes each server, whose listener gets the requests.
 * @throws CommandError when the port is taken.
 */
export async function listen(
  port: number,
  serve: RequestListener,
  create: (serve: RequestListener) => Server = createServer,
) {
  const servers = [create(serve), create(serve)] as const;
  const close = () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  try {
    const chosen = await listenOn(servers[0], port);
    await listenOn(servers[1], chosen, "::1").catch((error: unknown) => {
      if (isTaken(error)) throw error;
    });
    return { port: chosen, close };
  } catch (error) {
    close();
    if (!isTaken(error)) throw error;
    throw new CommandError(
      `Port ${port} on localhost is taken or not allowed; choose another with --port`,
    );
  }
}

/**
 * Makes a server listen at a port, any free one for 0.
 *
 * @returns the port.
 * @throws the server's error.
 */
export async function listenOn(
  server: TcpServer,
  port = 0,
  host = "127.0.0.1",
): Promise<number> {
  server.listen(port, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** A port that no server uses at an address: the preferred one, if that is free. */
export async function freePort(host?: string, preferred = 0): Promise<number> {
  const server = createServer();
  const port = await listenOn(server, preferred, host).catch(() => freePort(host));
  server.close();
  return port;
}
