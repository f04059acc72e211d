import {
  DeleteTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { seedOrders } from "../../infra/local/engine/seed-orders.ts";
import { createTables, prepareTables } from "../../infra/local/engine/tables.ts";
import type { OrderItem } from "../../shared/order.ts";
import { readAssembly } from "../helpers/read-assembly.ts";

const { template } = await readAssembly();
const table = template.output("OrdersTableName");
const { signal } = new AbortController();

const engine = await startEngine();
let client: DynamoDBClient;
beforeEach(async () => {
  client = engineClient(engine.endpoint);
  const { TableNames = [] } = await client.send(new ListTablesCommand());
  for (const TableName of TableNames) await client.send(new DeleteTableCommand({ TableName }));
});
afterEach(() => client.destroy());
afterAll(() => engine.stop());

/** Orders with these ids, and what happens then. */
async function* orders(
  from: number,
  to: number,
  end = async () => {},
): AsyncGenerator<OrderItem, void, void> {
  for (let id = from; id <= to; id++) yield { id: { N: String(id) } };
  await end();
}

async function storedIds(): Promise<number[]> {
  const { Items = [] } = await client.send(
    new ScanCommand({ TableName: table, ConsistentRead: true }),
  );
  return Items.map(({ id }) => Number(id?.N)).sort((a, b) => a - b);
}

async function cutOff(): Promise<void> {
  // Whole transactions of 100.
  await vi.waitFor(async () => expect(await storedIds()).toHaveLength(200), { timeout: 60_000 });
  throw new Error("cut off");
}

test("orders go into a new table once", async () => {
  expect(await prepareTables(client, template, orders(1, 3), signal)).toBe(true);
  expect(await prepareTables(client, template, orders(4, 9), signal)).toBe(false);
  expect(await storedIds()).toEqual([1, 2, 3]);
});

test("orders that a start was cut off from writing are written by the next", async () => {
  await expect(prepareTables(client, template, orders(1, 250, cutOff), signal)).rejects.toThrow(
    "cut off",
  );
  const cancelled: OrderItem = { id: { N: "7" }, status: { S: "cancelled" } };
  await client.send(new PutItemCommand({ TableName: table, Item: cancelled }));
  await client.send(new PutItemCommand({ TableName: table, Item: { id: { N: "1000" } } }));
  expect(await prepareTables(client, template, orders(1, 250), signal)).toBe(true);
  expect(await storedIds()).toEqual([
    ...Array.from({ length: 250 }, (_, index) => index + 1),
    1000,
  ]);
  const { Item } = await client.send(
    new GetItemCommand({ TableName: table, Key: { id: { N: "7" } } }),
  );
  expect(Item).toEqual(cancelled);
  expect(await prepareTables(client, template, orders(301, 303), signal)).toBe(false);
});

test("two starts that share an engine write the orders of both", async () => {
  const other = async () => void (await prepareTables(client, template, orders(1, 120), signal));
  await prepareTables(client, template, orders(51, 250, other), signal);
  expect(await storedIds()).toEqual(Array.from({ length: 250 }, (_, index) => index + 1));
});

test("orders are written though there are more than one call takes", async () => {
  const note = { S: "€".repeat(130_000) };
  const twelve = async function* (): AsyncGenerator<OrderItem, void, void> {
    for await (const order of orders(201, 212)) yield { ...order, note };
  };
  await createTables(client, template.all("AWS::DynamoDB::Table"));
  await seedOrders(client, table, orders(1, 120), signal);
  expect(await storedIds()).toHaveLength(120);
  await seedOrders(client, table, twelve(), signal);
});

test("a start that is interrupted writes no order", async () => {
  const interrupted = AbortSignal.abort(new Error("interrupted"));
  await expect(prepareTables(client, template, orders(1, 1), interrupted)).rejects.toThrow(
    "interrupted",
  );
  expect(await storedIds()).toEqual([]);
});
