import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  KeyType,
  ResourceNotFoundException,
  ScalarAttributeType,
  ScanCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import type { OrderStatus } from "../../../shared/order.ts";
import type { OrderRow } from "../../orders-file/order-line.ts";
import { StartError } from "../start-error.ts";
import type { Properties } from "../template/properties.ts";
import { pseudoParameters, type Template } from "../template/template.ts";

/** What every client of a local engine signs with; an engine may keep the tables of each key and region apart. */
export const dummyCredentials = { accessKeyId: "local", secretAccessKey: "local" };

// Transactions, not batches: to a file the engine writes each of these at once, which is twelve times as fast.
const transactionSize = 100;
const transactionsAtOnce = 4;

/** A client of the engine at an endpoint. */
export function engineClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({
    endpoint,
    region: pseudoParameters["AWS::Region"],
    credentials: dummyCredentials,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 30_000, throwOnRequestTimeout: true },
  });
}

/**
 * Creates the template's tables where the engine has none of their names.
 *
 * @returns the names of those created, for `seedOrders` to fill and `dropTables` to take back.
 * @throws StartError when the engine does not answer.
 */
export async function createTables(client: DynamoDBClient, template: Template): Promise<string[]> {
  const created: string[] = [];
  for (const id of template.ids("AWS::DynamoDB::Table")) {
    const name = template.reference(id);
    if (await tableExists(client, name)) continue;
    await client.send(new CreateTableCommand(tableDefinition(name, template.properties(id))));
    created.push(name);
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName: name });
  }
  return created;
}

/** Takes back tables that a start created before it failed. */
export async function dropTables(client: DynamoDBClient, names: string[]): Promise<void> {
  for (const name of names) await client.send(new DeleteTableCommand({ TableName: name }));
}

/** Writes orders into a table that has none of them. */
export async function seedOrders(
  client: DynamoDBClient,
  table: string,
  orders: AsyncIterable<OrderRow>,
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

/** The id of some order with this status among the first ones of a table. */
export async function findOrderId(
  client: DynamoDBClient,
  table: string,
  status: OrderStatus,
): Promise<string | undefined> {
  const scan = new ScanCommand({
    TableName: table,
    FilterExpression: "#status = :status",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: { ":status": { S: status } },
    Limit: 1000,
  });
  const { Items = [] } = await client.send(scan);
  return Items[0]?.["id"]?.N;
}

async function tableExists(client: DynamoDBClient, name: string): Promise<boolean> {
  try {
    await client.send(new DescribeTableCommand({ TableName: name }));
    return true;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return false;
    const endpoint = await client.config.endpoint?.();
    const at = `${endpoint?.protocol}//${endpoint?.hostname}:${endpoint?.port ?? 80}`;
    throw new StartError(`No DynamoDB engine answers at ${at} (DYNAMODB_ENDPOINT): ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): unknown {
  return error instanceof Error ? error.message || error.name : error;
}

function tableDefinition(name: string, properties: Properties): CreateTableCommandInput {
  const definition = {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST" as const,
    KeySchema: properties.list("KeySchema").map((key) => ({
      AttributeName: key.text("AttributeName"),
      KeyType: key.text("KeyType") === "HASH" ? KeyType.HASH : KeyType.RANGE,
    })),
    AttributeDefinitions: properties.list("AttributeDefinitions").map((attribute) => ({
      AttributeName: attribute.text("AttributeName"),
      AttributeType: ScalarAttributeType[scalarType(attribute.text("AttributeType"))],
    })),
  };
  properties.nothingElse(
    "BillingMode",
    "DeletionProtectionEnabled",
    "OnDemandThroughput",
    "PointInTimeRecoverySpecification",
    "SSESpecification",
    "Tags",
  );
  return definition;
}

function scalarType(text: string): "B" | "N" | "S" {
  if (text === "B" || text === "N" || text === "S") return text;
  throw new StartError(`The local stack does not support the attribute type ${text}`);
}

async function* inTransactions(
  TableName: string,
  orders: AsyncIterable<OrderRow>,
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
