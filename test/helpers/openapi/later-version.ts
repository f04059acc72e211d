import { once } from "node:events";
import { createServer } from "node:http";

export interface LaterVersion {
  /** Like `http://127.0.0.1:54321/v1`. */
  baseUrl: string;
  stop(): Promise<void>;
}

/** Every list of the later version: an Order with a field that the document does not have. */
export const laterOrders = '[{"id":9223372036854775807,"gift":true}]';

/** The response to every cancellation there: a code that the document does not have. */
export const laterError = '{"code":"order_being_packed","message":"Order is being packed","status":409}';

/** Starts a stand-in for a later version of the service, which has added a field and an error code. */
export async function startLaterVersion(): Promise<LaterVersion> {
  const server = createServer(({ method }, response) => {
    const [status, body] = method === "DELETE" ? [409, laterError] : [200, laterOrders];
    response.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A TCP server has no port");
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
