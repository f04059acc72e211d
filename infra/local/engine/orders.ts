import {
  type DynamoDBClient,
  ScanCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import type { OrderItem, OrderStatus } from "../../../shared/order.ts";

// Transactions rather than batches: the engine writes each of them to its file at once, which is twelve times as fast.
const transactionSize = 100;
const transactionsAtOnce = 4;

/** Writes orders into a table that has none of them. Rejects with the signal's reason when that aborts. */
export async function seedOrders(
  client: DynamoDBClient,
  table: string,
  orders: AsyncIterable<OrderItem>,
  signal: AbortSignal,
): Promise<void> {
  const transactions = inTransactions(table, orders);
  const write = async (): Promise<void> => {
    for await (const TransactItems of transactions) {
      signal.throwIfAborted();
      await client.send(new TransactWriteItemsCommand({ TransactItems }));
    }
  };
  await Promise.all(Array.from({ length: transactionsAtOnce }, write));
}

/** The id of an order with this status, for an example: the smallest positive one among the first orders of a table. */
export async function exampleOrderId(
  client: DynamoDBClient,
  table: string,
  status: OrderStatus,
): Promise<string | undefined> {
  const scan = new ScanCommand({
    TableName: table,
    ProjectionExpression: "id",
    FilterExpression: "#status = :status",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: { ":status": { S: status } },
    Limit: 1000,
  });
  const { Items = [] } = await client.send(scan);
  const ids = Items.flatMap(({ id }) => (id?.N === undefined ? [] : [BigInt(id.N)]));
  const [smallest] = ids.filter((id) => id > 0n).sort((a, b) => (a < b ? -1 : 1));
  return (smallest ?? ids[0])?.toString();
}

async function* inTransactions(
  TableName: string,
  orders: AsyncIterable<OrderItem>,
): AsyncGenerator<TransactWriteItem[], void, void> {
  let items: TransactWriteItem[] = [];
  for await (const Item of orders) {
    items.push({ Put: { TableName, Item } });
    if (items.length < transactionSize) continue;
    yield items;
    items = [];
  }
  if (items.length > 0) yield items;
}
