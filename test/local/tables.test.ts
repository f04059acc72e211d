import {
  DeleteTableCommand,
  type DynamoDBClient,
  ListTablesCommand,
  PutItemCommand,
  paginateScan,
} from "@aws-sdk/client-dynamodb";
import {
  afterAll,
  afterEach,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { logProgress, seedOrders } from "../../infra/local/engine/seed-orders.ts";
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

/** Orders with these ids; calls `end` after the last. */
async function* orders(
  from: number,
  to: number,
  end = async () => {},
): AsyncGenerator<OrderItem, void, void> {
  for (let id = from; id <= to; id++) yield { id: { N: String(id) } };
  await end();
}

async function stored(): Promise<OrderItem[]> {
  const input = { TableName: table, ConsistentRead: true };
  const pages = await Array.fromAsync(paginateScan({ client }, input));
  return pages.flatMap(({ Items = [] }) => Items);
}

async function storedIds(): Promise<number[]> {
  const ids = (await stored()).map(({ id }) => Number(id?.N));
  return ids.sort((a, b) => a - b);
}

/** The ids from 1. */
const idsUpTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

/** Fails once the orders of two whole transactions, 100 each, have been written. */
async function interrupt(): Promise<void> {
  await vi.waitFor(async () => expect(await storedIds()).toHaveLength(200), { timeout: 60_000 });
  throw new Error("interrupted");
}

test("orders are written into a new table only", async () => {
  expect(await prepareTables(client, template, orders(1, 3), signal)).toBe(true);
  expect(await prepareTables(client, template, orders(4, 9), signal)).toBe(false);
  expect(await storedIds()).toEqual([1, 2, 3]);
});

describe("after a start that was interrupted while it wrote orders, the next one", () => {
  beforeEach(async () => {
    const start = prepareTables(client, template, orders(1, 250, interrupt), signal);
    await expect(start).rejects.toThrow("interrupted");
  });

  test("writes the missing orders", async () => {
    expect(await prepareTables(client, template, orders(1, 250), signal)).toBe(true);
    expect(await storedIds()).toEqual(idsUpTo(250));
  });

  test("keeps orders that were changed or placed since", async () => {
    const cancelled: OrderItem = { id: { N: "7" }, status: { S: "cancelled" } };
    const placed: OrderItem = { id: { N: "1000" } };
    for (const Item of [cancelled, placed])
      await client.send(new PutItemCommand({ TableName: table, Item }));
    await prepareTables(client, template, orders(1, 250), signal);
    expect(await stored()).toEqual(expect.arrayContaining([cancelled, placed]));
  });

  test("leaves nothing for a third one to write", async () => {
    await prepareTables(client, template, orders(1, 250), signal);
    expect(await prepareTables(client, template, orders(301, 303), signal)).toBe(false);
    expect(await storedIds()).toEqual(idsUpTo(250));
  });
});

test("two starts that share an engine write the orders of both", async () => {
  const other = async () => void (await prepareTables(client, template, orders(1, 120), signal));
  await prepareTables(client, template, orders(51, 250, other), signal);
  expect(await storedIds()).toEqual(idsUpTo(250));
});

test.each([
  // A transaction takes 100 orders, and 4 MB.
  ["number", 120, ""],
  ["size", 12, "€".repeat(130_000)],
])("orders are written even if their %s exceeds one call", async (_, count, note) => {
  const noted = async function* (): AsyncGenerator<OrderItem, void, void> {
    for await (const order of orders(1, count)) yield { ...order, note: { S: note } };
  };
  await createTables(client, template.all("AWS::DynamoDB::Table"));
  await seedOrders(client, table, noted(), signal);
  expect(await storedIds()).toEqual(idsUpTo(count));
});

test("a start that is interrupted writes no order", async () => {
  const interrupted = AbortSignal.abort(new Error("interrupted"));
  await expect(prepareTables(client, template, orders(1, 1), interrupted)).rejects.toThrow(
    "interrupted",
  );
  expect(await storedIds()).toEqual([]);
});

test("loading orders logs, once a second, how many have been loaded", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  for await (const _ of logProgress(orders(1, 2500), 2500, (line) => lines.push(line)))
    vi.advanceTimersByTime(1);
  expect(lines).toEqual(["Loaded 1,000 of 2,500 orders", "Loaded 2,000 of 2,500 orders"]);
});
