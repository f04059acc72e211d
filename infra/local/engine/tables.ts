import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../../shared/order.ts";
import type { StackTemplate } from "../../template/stack-template.ts";
import { StartError } from "../machine/start-error.ts";
import { seedOrders } from "./seed-orders.ts";

/**
 * Creates the template's tables that the engine does not have yet.
 *
 * @returns the names of those created.
 * @throws StartError when the engine does not answer.
 */
export async function createTables(client: DynamoDBClient, template: StackTemplate): Promise<string[]> {
  const created: string[] = [];
  for (const { name: TableName, properties } of template.all("AWS::DynamoDB::Table")) {
    const { AttributeDefinitions, BillingMode, KeySchema } = properties;
    if (await tableExists(client, TableName)) continue;
    await client.send(new CreateTableCommand({ TableName, AttributeDefinitions, BillingMode, KeySchema }));
    created.push(TableName);
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName });
  }
  return created;
}

/**
 * Creates the missing tables, and writes the orders if the orders table is new.
 *
 * @returns whether it is new.
 */
export async function prepareTables(
  client: DynamoDBClient,
  template: StackTemplate,
  orders: AsyncIterable<OrderItem>,
  signal: AbortSignal,
): Promise<boolean> {
  const table = template.output("OrdersTableName");
  const created = await createTables(client, template);
  if (!created.includes(table)) return false;
  try {
    await seedOrders(client, table, orders, signal);
    return true;
  } catch (error) {
    // The next start would take half-filled tables for complete ones.
    for (const TableName of created) await client.send(new DeleteTableCommand({ TableName }));
    throw error;
  }
}

async function tableExists(client: DynamoDBClient, name: string): Promise<boolean> {
  try {
    await client.send(new DescribeTableCommand({ TableName: name }));
    return true;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return false;
    const endpoint = await client.config.endpoint?.();
    const address = `${endpoint?.protocol}//${endpoint?.hostname}:${endpoint?.port ?? 80}`;
    const reason = error instanceof Error ? error.message || error.name : error;
    throw new StartError(`No DynamoDB engine answers at ${address} (DYNAMODB_ENDPOINT): ${reason}`);
  }
}
