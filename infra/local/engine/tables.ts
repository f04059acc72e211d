import {
  CreateTableCommand,
  type DynamoDBClient,
  paginateListTables,
  ResourceInUseException,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../../shared/order.ts";
import type { Resource } from "../template/resources.ts";
import type { StackTemplate } from "../template/stack-template.ts";
import { seedOrders } from "./seed-orders.ts";

/**
 * Creates the tables that the engine does not have yet.
 *
 * @throws what the DynamoDB client throws.
 */
export async function createTables(
  client: DynamoDBClient,
  tables: Resource<"AWS::DynamoDB::Table">[],
): Promise<void> {
  for (const { name: TableName, ...properties } of tables) {
    const { AttributeDefinitions, BillingMode, KeySchema, StreamSpecification } =
      properties;
    const table = { AttributeDefinitions, BillingMode, KeySchema, StreamSpecification };
    try {
      await client.send(new CreateTableCommand({ TableName, ...table }));
    } catch (error) {
      if (!(error instanceof ResourceInUseException)) throw error;
    }
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName });
  }
}

/**
 * Creates the template's missing tables, and writes the orders if the orders table is new or an
 * earlier start was killed while it wrote them. It deletes and overwrites nothing: others may have
 * written to the table since.
 *
 * @returns whether it wrote the orders.
 * @throws the signal's reason once it aborts, and what the DynamoDB client throws.
 */
export async function prepareTables(
  client: DynamoDBClient,
  template: StackTemplate,
  orders: AsyncIterable<OrderItem>,
  signal: AbortSignal,
): Promise<boolean> {
  const tables = template.all("AWS::DynamoDB::Table");
  const ordersTable = template.output("OrdersTableName");
  const pages = await Array.fromAsync(paginateListTables({ client }, {}));
  const present = pages.flatMap(({ TableNames = [] }) => TableNames);
  const names = [ordersTable, template.output("ApiKeysTableName")];
  const isNew = !names.every((name) => present.includes(name));
  if (isNew) {
    const first = tables.filter(({ name }) => name === ordersTable);
    await createTables(client, first);
    await seedOrders(client, ordersTable, orders, signal);
  }
  // The table of keys comes last: without it, the orders may not all have been written.
  await createTables(client, tables);
  return isNew;
}
