import { randomUUID } from "node:crypto";
import {
  CreateTableCommand,
  DeleteTableCommand,
  type DynamoDBClient,
  PutItemCommand,
  paginateScan,
  type ScalarAttributeType,
} from "@aws-sdk/client-dynamodb";
import { engineClient } from "../../../infra/local/engine/client.ts";
import { type Engine, startEngine } from "../../../infra/local/engine/engine.ts";
import type { OrderItem } from "../../../shared/order.ts";

/** The service's two tables, empty, on an engine of a test file's own. */
export interface TestTables {
  dynamodbEndpoint: string;
  tables: { orders: string; apiKeys: string };
  client: DynamoDBClient;
  put(table: "orders" | "apiKeys", item: OrderItem): Promise<void>;
  items(table: "orders" | "apiKeys"): Promise<OrderItem[]>;
  /** Puts empty tables in the place of both. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

export async function createTestTables(): Promise<TestTables> {
  const engine: Engine = await startEngine();
  const client = engineClient(engine.endpoint);
  const tables = { orders: `Orders-${randomUUID()}`, apiKeys: `ApiKeys-${randomUUID()}` };
  const create = async (): Promise<void> => {
    await createTable(client, tables.orders, "id", "N");
    await createTable(client, tables.apiKeys, "keyHash", "S");
  };
  await create();
  return {
    dynamodbEndpoint: engine.endpoint,
    tables,
    client,
    put: async (table, Item) => {
      await client.send(new PutItemCommand({ TableName: tables[table], Item }));
    },
    items: async (table) => {
      const items: OrderItem[] = [];
      for await (const { Items = [] } of paginateScan({ client }, { TableName: tables[table] })) items.push(...Items);
      return items;
    },
    empty: async () => {
      for (const TableName of Object.values(tables)) await client.send(new DeleteTableCommand({ TableName }));
      await create();
    },
    stop: async () => {
      client.destroy();
      await engine.stop();
    },
  };
}

async function createTable(
  client: DynamoDBClient,
  name: string,
  key: string,
  type: Extract<ScalarAttributeType, "N" | "S">,
): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [{ AttributeName: key, KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: key, AttributeType: type }],
    }),
  );
}
