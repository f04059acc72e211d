import {
  CreateTableCommand,
  type CreateTableCommandInput,
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
 * @throws StartError when the engine does not answer.
 */
export async function createTables(client: DynamoDBClient, template: StackTemplate): Promise<void> {
  for (const { name, properties } of template.all("AWS::DynamoDB::Table")) await createTable(client, name, properties);
}

/**
 * Creates the missing tables, and writes the orders if the orders table is new or an earlier start was killed while it
 * wrote them.
 *
 * @returns whether it wrote them.
 */
export async function prepareTables(
  client: DynamoDBClient,
  template: StackTemplate,
  orders: AsyncIterable<OrderItem>,
  signal: AbortSignal,
): Promise<boolean> {
  const TableName = template.output("OrdersTableName");
  // Exists only while orders are written.
  const unfinished = `${TableName}-unfinished`;
  const cutOff = await tableExists(client, unfinished);
  const exists = await tableExists(client, TableName);
  if (exists && cutOff) await client.send(new DeleteTableCommand({ TableName }));
  const isNew = cutOff || !exists;
  if (isNew) await createTable(client, unfinished, markerProperties);
  await createTables(client, template);
  if (!isNew) return false;
  await seedOrders(client, TableName, orders, signal);
  await client.send(new DeleteTableCommand({ TableName: unfinished }));
  return true;
}

type TableProperties = Pick<CreateTableCommandInput, "AttributeDefinitions" | "BillingMode" | "KeySchema">;

const markerProperties: TableProperties = {
  AttributeDefinitions: [{ AttributeName: "id", AttributeType: "N" }],
  BillingMode: "PAY_PER_REQUEST",
  KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
};

async function createTable(
  client: DynamoDBClient,
  TableName: string,
  { AttributeDefinitions, BillingMode, KeySchema }: TableProperties,
): Promise<void> {
  if (await tableExists(client, TableName)) return;
  await client.send(new CreateTableCommand({ TableName, AttributeDefinitions, BillingMode, KeySchema }));
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName });
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
