import { once } from "node:events";
import type { Server } from "node:net";

/**
 * Has a server listen.
 *
 * @param port 0 for any free one.
 * @returns the port it got.
 * @throws what the server's `error` event says, `EADDRINUSE` for example.
 */
export async function listeningPort(server: Server, port = 0, host = "127.0.0.1"): Promise<number> {
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A TCP server has no port");
  return address.port;
}
