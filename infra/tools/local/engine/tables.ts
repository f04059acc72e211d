import { Readable } from "node:stream";
import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  type DynamoDBClient,
  PutItemCommand,
  paginateListTables,
  ResourceInUseException,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../../../shared/order.ts";
import type { Resource } from "../template/resources.ts";

/**
 * Creates the tables that the engine does not have yet.
 *
 * @throws what the DynamoDB client throws.
 */
export async function createTables(
  client: DynamoDBClient,
  tables: Resource<"AWS::DynamoDB::Table">[],
) {
  for (const { id: _, name: TableName, ...table } of tables) {
    try {
      await client.send(new CreateTableCommand({ ...table, TableName }));
    } catch (error) {
      if (!(error instanceof ResourceInUseException)) throw error;
    }
  }
}

/**
 * Creates the missing tables, and writes the orders if the orders table is new or an earlier start
 * was killed while it wrote them. It deletes and overwrites nothing: others may have written to the
 * table since.
 *
 * @param names of the service's own two tables.
 * @returns whether it wrote the orders.
 * @throws the signal's reason once it aborts, and what the DynamoDB client throws.
 */
export async function prepareTables(
  client: DynamoDBClient,
  tables: Resource<"AWS::DynamoDB::Table">[],
  names: { orders: string; apiKeys: string },
  orders: AsyncIterable<OrderItem[]>,
  signal: AbortSignal,
): Promise<boolean> {
  const pages = await Array.fromAsync(paginateListTables({ client }, {}));
  const present = new Set(pages.flatMap(({ TableNames }) => TableNames));
  const isNew = !present.has(names.orders) || !present.has(names.apiKeys);
  if (isNew) {
    const first = tables.filter(({ name }) => name === names.orders);
    await createTables(client, first);
    await seedOrders(client, names.orders, orders, signal);
  }
  // The table of keys comes last: if it is missing, the orders may not all have been written.
  await createTables(client, tables);
  return isNew;
}

/**
 * Writes the orders whose ids the table does not have.
 *
 * @param orders as many at a time as one transaction can write.
 * @throws the signal's reason once it aborts, and what the DynamoDB client throws.
 */
export async function seedOrders(
  client: DynamoDBClient,
  TableName: string,
  orders: AsyncIterable<OrderItem[]>,
  signal: AbortSignal,
) {
  const write = async (batch: OrderItem[]) => {
    signal.throwIfAborted();
    const ConditionExpression = "attribute_not_exists(id)";
    const TransactItems = batch.map((Item) => ({
      Put: { TableName, ConditionExpression, Item },
    }));
    try {
      await client.send(new TransactWriteItemsCommand({ TransactItems }));
    } catch {
      // The table has some, or together they exceed the 4 MB of a transaction.
      for (const { Put } of TransactItems) {
        await client.send(new PutItemCommand(Put)).catch((error: unknown) => {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
        });
      }
    }
  };
  // Transactions, not batches of writes: the engine writes a transaction to its file in one go,
  // which makes this twelve times as fast.
  await Readable.from(orders).forEach(write, { concurrency: 4 });
}
