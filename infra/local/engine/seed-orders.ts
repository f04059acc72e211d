import {
  type DynamoDBClient,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../../shared/order.ts";
import { counted, grouped } from "../../terminal/counted.ts";

// Transactions, not batches: the engine writes a transaction to its file in one go, which makes
// this twelve times as fast.
const transactionSize = 100;
/** DynamoDB allows 4 MB a transaction, and a character takes up to 3 bytes. */
const transactionCharacters = 1_000_000;
const transactionsAtOnce = 4;

/**
 * Writes the orders whose ids the table does not have.
 *
 * @throws the signal's reason once it aborts, and what the DynamoDB client throws.
 */
export async function seedOrders(
  client: DynamoDBClient,
  table: string,
  orders: AsyncIterable<OrderItem>,
  signal: AbortSignal,
): Promise<void> {
  // The workers share one generator, so each transaction goes to one of them.
  const transactions = inTransactions(table, orders);
  const write = async () => {
    for await (const TransactItems of transactions) {
      signal.throwIfAborted();
      await putAbsent(client, TransactItems);
    }
  };
  await Promise.all(Array.from({ length: transactionsAtOnce }, write));
}

/** Writes the items in one transaction; if the table has some, the others in a second one. */
async function putAbsent(
  client: DynamoDBClient,
  TransactItems: TransactWriteItem[],
): Promise<void> {
  try {
    await client.send(new TransactWriteItemsCommand({ TransactItems }));
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    // There is one reason for each item, in the same order.
    const { CancellationReasons: reasons } = error;
    const absent = TransactItems.filter(
      (_, index) => reasons?.[index]?.Code !== "ConditionalCheckFailed",
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
    items.push({
      Put: { TableName, Item, ConditionExpression: "attribute_not_exists(id)" },
    });
    characters += JSON.stringify(Item).length;
    if (items.length < transactionSize && characters < transactionCharacters) continue;
    yield items;
    items = [];
    characters = 0;
  }
  if (items.length > 0) yield items;
}

/** Passes orders on and logs, once a second, how many of them have come by. */
export async function* logProgress(
  orders: AsyncIterable<OrderItem>,
  total: number,
  log: (line: string) => void,
): AsyncGenerator<OrderItem, void, void> {
  let loaded = 0;
  let loggedAt = performance.now();
  for await (const order of orders) {
    yield order;
    loaded++;
    if (performance.now() < loggedAt + 1000) continue;
    loggedAt = performance.now();
    log(`Loaded ${grouped(loaded)} of ${counted(total, "order")}`);
  }
}
