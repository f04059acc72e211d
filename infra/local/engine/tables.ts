import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../../shared/order.ts";
import type { Resource, StackTemplate } from "../../template/stack-template.ts";
import { seedOrders } from "./seed-orders.ts";

/** Creates those of the tables that the engine does not have yet. Throws what the DynamoDB client throws. */
export async function createTables(client: DynamoDBClient, tables: Resource<"AWS::DynamoDB::Table">[]): Promise<void> {
  for (const { name: TableName, properties } of tables) {
    if (await tableExists(client, TableName)) continue;
    const { AttributeDefinitions, BillingMode, KeySchema } = properties;
    await client.send(new CreateTableCommand({ TableName, AttributeDefinitions, BillingMode, KeySchema }));
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName });
  }
}

/**
 * Creates the template's missing tables, and writes the orders if the orders table is new or an earlier start was killed
 * while it wrote them.
 *
 * @returns whether it wrote them.
 * @throws the signal's reason when that aborts, and what the DynamoDB client throws.
 */
export async function prepareTables(
  client: DynamoDBClient,
  template: StackTemplate,
  orders: AsyncIterable<OrderItem>,
  signal: AbortSignal,
): Promise<boolean> {
  const tables = template.all("AWS::DynamoDB::Table");
  const TableName = template.output("OrdersTableName");
  // Exists only while orders are written.
  const unfinished = `${TableName}-unfinished`;
  const cutOff = await tableExists(client, unfinished);
  const exists = await tableExists(client, TableName);
  if (exists && cutOff) await client.send(new DeleteTableCommand({ TableName }));
  const isNew = cutOff || !exists;
  const marker = tables
    .filter(({ name }) => isNew && name === TableName)
    .map((table) => ({ ...table, name: unfinished }));
  await createTables(client, [...marker, ...tables]);
  if (!isNew) return false;
  await seedOrders(client, TableName, orders, signal);
  await client.send(new DeleteTableCommand({ TableName: unfinished }));
  return true;
}

async function tableExists(client: DynamoDBClient, TableName: string): Promise<boolean> {
  try {
    await client.send(new DescribeTableCommand({ TableName }));
    return true;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return false;
    throw error;
  }
}
