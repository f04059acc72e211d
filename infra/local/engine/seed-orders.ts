import {
  type DynamoDBClient,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../../shared/order.ts";

// Transactions rather than batches: the engine writes each of them to its file at once, which is
// twelve times as fast.
const transactionSize = 100;
/** A transaction may have 4 MB, and a character 3 bytes. */
const transactionCharacters = 1_000_000;
const transactionsAtOnce = 4;

/**
 * Writes those orders whose ids the table does not have. Rejects with the signal's reason when that
 * aborts.
 */
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
      await putAbsent(client, TransactItems);
    }
  };
  await Promise.all(Array.from({ length: transactionsAtOnce }, write));
}

async function putAbsent(
  client: DynamoDBClient,
  TransactItems: TransactWriteItem[],
): Promise<void> {
  try {
    await client.send(new TransactWriteItemsCommand({ TransactItems }));
  } catch (error) {
    const reasons =
      (error instanceof TransactionCanceledException && error.CancellationReasons) || [];
    const absent = TransactItems.filter(
      (_, index) => reasons[index]?.Code !== "ConditionalCheckFailed",
    );
    if (absent.length === TransactItems.length) throw error;
    if (absent.length > 0) await putAbsent(client, absent);
  }
}

async function* inTransactions(
  TableName: string,
  orders: AsyncIterable<OrderItem>,
): AsyncGenerator<TransactWriteItem[], void, void> {
  let items: TransactWriteItem[] = [];
  let characters = 0;
  for await (const Item of orders) {
    items.push({ Put: { TableName, Item, ConditionExpression: "attribute_not_exists(id)" } });
    characters += JSON.stringify(Item).length;
    if (items.length < transactionSize && characters < transactionCharacters) continue;
    yield items;
    items = [];
    characters = 0;
  }
  if (items.length > 0) yield items;
}
