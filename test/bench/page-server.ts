import { json } from "node:stream/consumers";
import { listen } from "../../infra/tools/local/machine/ports.ts";
import type { OrderItem } from "../../shared/order.ts";

/** About 1 MB, as DynamoDB's pages are. */
const perPage = 6500;

/** Starts a server in the engine's place: every page takes it the same time. */
export async function startPageServer(orders: number) {
  const { port, close } = await listen(0, async (request, response) => {
    const { ExclusiveStartKey } = (await json(request)) as {
      ExclusiveStartKey?: { id: { N: string } };
    };
    const first = Number(ExclusiveStartKey?.id.N ?? 0);
    const end = Math.min(first + perPage, orders);
    const Items = ordersFrom(first, end - first);
    const LastEvaluatedKey = end < orders ? { id: { N: String(end) } } : undefined;
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify({ Items, LastEvaluatedKey }));
  });
  const variables = { AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${port}` };
  return { variables, [Symbol.dispose]: close };
}

/** All different: their list compresses as one of real orders. */
export function ordersFrom(firstId: number, count: number): OrderItem[] {
  return Array.from({ length: count }, (_, index) => {
    const id = firstId + index;
    return {
      id: { N: String(id) },
      petId: { N: String((id * 7919) % 100_003) },
      quantity: { N: String((id % 9) + 1) },
      shipDate: { S: new Date(1_790_000_000_000 + id * 60_000).toISOString() },
      complete: { BOOL: id % 3 === 0 },
    };
  });
}
