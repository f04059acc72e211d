import { json } from "node:stream/consumers";
import { listen } from "../../infra/tools/local/machine/ports.ts";
import type { OrderItem } from "../../shared/order.ts";
import { orderBytes, ordersFrom } from "./orders.ts";

/** 1 MB, as DynamoDB's pages are. */
const perPage = Math.floor(2 ** 20 / orderBytes("short").stored);

/** Turns an order, by its place among ten, into what the page has. */
export type Change = (order: OrderItem, index: number) => OrderItem;

/** Starts a server in the engine's place: every page takes it the same time. */
export async function startPageServer(orders: number, change: Change = (order) => order) {
  const { port, close } = await listen(0, async (request, response) => {
    const { ExclusiveStartKey } = (await json(request)) as {
      ExclusiveStartKey?: { id: { N: string } };
    };
    const first = Number(ExclusiveStartKey?.id.N ?? 0);
    const end = Math.min(first + perPage, orders);
    const Items = ordersFrom(first, end - first).map(({ status: _, ...order }, index) =>
      change(order, index),
    );
    const LastEvaluatedKey = end < orders ? { id: { N: String(end) } } : undefined;
    response.writeHead(200, { "x-amzn-requestid": "A1" });
    response.end(JSON.stringify({ Items, LastEvaluatedKey }));
  });
  const variables = { AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${port}` };
  return { variables, [Symbol.dispose]: close };
}
