import { randomUUID } from "node:crypto";
import { PutItemCommand, paginateScan } from "@aws-sdk/client-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { prepareTables } from "../../../infra/tools/local/engine/tables.ts";
import { withLoadProgress } from "../../../infra/tools/local/load-progress.ts";
import { batches } from "../../../infra/tools/orders-file/batches.ts";
import type { OrderItem } from "../../../shared/order.ts";
import { rejectedAs } from "../../helpers/faults/faults.ts";
import { readAssembly } from "../../helpers/read-assembly.ts";
import { createTestTables } from "../../helpers/test-tables.ts";

const { behindProxy, client } = await createTestTables();
const { template } = await readAssembly();
const resources = template.all("AWS::DynamoDB::Table");
const names = { orders: "", apiKeys: "" };
beforeEach(() => {
  names.orders = randomUUID();
  names.apiKeys = randomUUID();
});

async function* orders(from: number, to: number, end = async () => {}, others = {}) {
  for (let id = from; id <= to; id++) yield { id: { N: String(id) }, ...others };
  await end();
}

function prepare(
  orders: AsyncIterable<OrderItem>,
  signal = new AbortController().signal,
  using = client,
): Promise<boolean> {
  const tables = resources.map((resource) => ({
    ...resource,
    name:
      resource.name === template.output("OrdersTableName") ? names.orders : names.apiKeys,
  }));
  return prepareTables(using, tables, names, batches(orders), signal);
}

async function stored(): Promise<OrderItem[]> {
  const scan = { TableName: names.orders, ConsistentRead: true };
  const pages = await Array.fromAsync(paginateScan({ client }, scan));
  return pages.flatMap(({ Items = [] }) => Items);
}

async function storedIds(): Promise<number[]> {
  return (await stored()).map(({ id }) => Number(id?.N)).sort((a, b) => a - b);
}

const idsUpTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test("a start completes what an interrupted one wrote, and changes nothing else", async () => {
  const ending = new AbortController();
  // One whole transaction.
  const interrupt = async () => {
    await vi.waitFor(async () => expect(await storedIds()).toHaveLength(100), 60_000);
    ending.abort("interrupted");
  };
  const interrupted = prepare(orders(1, 150, interrupt), ending.signal);
  await expect(interrupted).rejects.toBe("interrupted");
  expect(await storedIds()).toHaveLength(100);
  const cancelled = { id: { N: "7" }, status: { S: "cancelled" } };
  const placed = { id: { N: "1000" } };
  for (const Item of [cancelled, placed])
    await client.send(new PutItemCommand({ TableName: names.orders, Item }));
  expect(await prepare(orders(1, 150))).toBe(true);
  expect(await prepare(orders(301, 303))).toBe(false);
  expect(await storedIds()).toEqual([...idsUpTo(150), 1000]);
  expect(await stored()).toContainEqual(cancelled);
});

test("orders are written even if their size exceeds a transaction's 4 MB", async () => {
  const note = { S: "€".repeat(130_000) };
  await prepare(orders(1, 12, undefined, { note }));
  expect(await storedIds()).toEqual(idsUpTo(12));
});

test("a start fails if a table can't be created, or an order can't be written", async () => {
  for (const failing of [/Create/, /Transact|PutItem/]) {
    const { client: proxied } = await behindProxy(({ operation }) =>
      failing.test(operation) ? rejectedAs("ValidationException") : undefined,
    );
    const start = prepare(orders(1, 1), undefined, proxied);
    await expect(start).rejects.toMatchObject({ name: "ValidationException" });
  }
});

test("loading orders logs, once a second, how many have been loaded", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const lines: string[] = [];
  const orders = Array(2500).fill({});
  const checked = { count: 2500, read: () => orders.values() };
  for (const _ of withLoadProgress(checked, (line) => lines.push(line)))
    vi.advanceTimersByTime(1);
  expect(lines).toEqual(["Loaded 1,000 of 2,500 orders", "Loaded 2,000 of 2,500 orders"]);
});
