import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { issueApiKey } from "../../shared/api-keys-table.ts";
import type { OrderItem } from "../../shared/order.ts";
import { environments } from "../environments.ts";
import { seedOrders } from "./engine/orders.ts";
import { createTables, dropTables } from "./engine/tables.ts";
import type { Template } from "./template/template.ts";

/**
 * Creates the tables that the engine does not have yet, and fills a new table of orders.
 *
 * @returns whether the orders were written: an existing table stays as it is.
 */
export async function prepareTables(
  client: DynamoDBClient,
  template: Template,
  orders: AsyncIterable<OrderItem>,
  signal: AbortSignal,
): Promise<boolean> {
  const ordersTable = template.output("OrdersTableName");
  const created = await createTables(client, template);
  if (!created.includes(ordersTable)) return false;
  try {
    await seedOrders(client, ordersTable, orders, signal);
    return true;
  } catch (error) {
    // Half filled, they would pass for whole at the next start.
    await dropTables(client, created);
    throw error;
  }
}

/** Issues the key that this start prints. */
export async function issueStartKey(client: DynamoDBClient, table: string): Promise<string> {
  const { key } = await issueApiKey(DynamoDBDocumentClient.from(client), table, environments.staging.apiKeyPrefix, {
    name: "npm start",
    createdAt: Math.floor(Date.now() / 1000),
  });
  return key;
}
