import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { benchOrder } from "./bench-order.ts";

/** About 1 MB, as DynamoDB's pages are. */
const perPage = 6500;

/** In the engine's place: a table with as many orders as asked for, whose every page takes as long as any other. */
export interface PageServer {
  endpoint: string;
  /** How many orders the table has from now on. */
  orders: number;
  close(): void;
}

export async function startPageServer(): Promise<PageServer> {
  const server = createServer(async (request, response) => {
    const { ExclusiveStartKey } = (await json(request)) as { ExclusiveStartKey?: { id: { N: string } } };
    const from = Number(ExclusiveStartKey?.id.N ?? 0);
    const to = Math.min(from + perPage, pages.orders);
    const Items = Array.from({ length: to - from }, (_, offset) => order(from + offset));
    const LastEvaluatedKey = to < pages.orders ? { id: { N: String(to) } } : undefined;
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify({ Items, LastEvaluatedKey }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const pages: PageServer = {
    endpoint: `http://127.0.0.1:${port}`,
    orders: 0,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return pages;
}

/** As a Scan projects it. */
function order(id: number): object {
  const { status, ...projected } = benchOrder(id);
  return projected;
}
