import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import type { OrderItem } from "../../shared/order.ts";

/** About 1 MB, as DynamoDB's pages are. */
const perPage = 6500;

/**
 * In the engine's place: a table with this many orders, whose every page takes as long as any
 * other.
 */
export async function startPageServer(
  orders: number,
): Promise<{ endpoint: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const { ExclusiveStartKey } = (await json(request)) as {
      ExclusiveStartKey?: { id: { N: string } };
    };
    const from = Number(ExclusiveStartKey?.id.N ?? 0);
    const to = Math.min(from + perPage, orders);
    const Items = Array.from({ length: to - from }, (_, offset) => order(from + offset));
    const LastEvaluatedKey = to < orders ? { id: { N: String(to) } } : undefined;
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify({ Items, LastEvaluatedKey }));
  });
  return {
    endpoint: `http://127.0.0.1:${await listeningPort(server)}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * The five fields of an order, no two alike, so that a list compresses as one of real orders would.
 */
export function order(id: number): OrderItem {
  return {
    id: { N: String(id) },
    petId: { N: String((id * 7919) % 100_003) },
    quantity: { N: String((id % 9) + 1) },
    shipDate: { S: new Date(1_790_000_000_000 + id * 60_000).toISOString() },
    complete: { BOOL: id % 3 === 0 },
  };
}
