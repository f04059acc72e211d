import { randomUUID } from "node:crypto";
import { type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach } from "vitest";
import { carryOver } from "../../../infra/admin/carry-over.ts";
import { orderRules, type Rules } from "../../../infra/admin/carry-over-rules.ts";
import { TableCalls } from "../../../infra/admin/table-calls.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { OrderItem as Item } from "../../../shared/order.ts";
import { createTable } from "../create-table.ts";
import type { TestTables } from "./test-tables.ts";

/** An old table of the calling test file, new and empty before each test. Returns what gives its name. */
export function createOldTable(client: DynamoDBClient, kind: "orders" | "apiKeys"): () => string {
  let name: string;
  beforeEach(async () => {
    name = `Old-${randomUUID()}`;
    await createTable(client, kind, name);
  });
  return () => name;
}

/** Puts items into a table. */
export async function putItems(client: DynamoDBClient, TableName: string, items: Item[]): Promise<void> {
  await Promise.all(items.map((Item) => client.send(new PutItemCommand({ TableName, Item }))));
}

interface Options {
  client?: DynamoDBClient;
  rules?: Rules;
  from?: string;
  dryRun?: boolean;
  signal?: AbortSignal;
  /** By which calls wait. */
  clock?: Clock;
}

/** An old table of orders, empty before each test, beside the test file's tables. */
export function createOldOrders({ client, tables: { orders: to }, items }: TestTables) {
  const old = createOldTable(client, "orders");
  return {
    putOld: (...orders: Item[]) => putItems(client, old(), orders),
    putNew: (...orders: Item[]) => putItems(client, to, orders),
    /** The new table's orders by their id. */
    newOrders: async (): Promise<Record<string, Item>> =>
      Object.fromEntries((await items("orders")).map((item) => [item["id"]?.N, item])),
    /** Carries over from the old table to the new one. */
    carryOrders: (options: Options = {}) => {
      const { client: through = client, rules = orderRules([]), from = old(), dryRun = false } = options;
      const { signal = new AbortController().signal, clock } = options;
      const [reads, writes] = [new TableCalls(through, undefined, clock), new TableCalls(through, undefined, clock)];
      return carryOver({ rules, from, to, reads, writes, dryRun, signal });
    },
  };
}

export const order = (id: number, status: string, more: Item = {}): Item => ({
  id: { N: String(id) },
  petId: { N: "9007199254740993" },
  status: { S: status },
  ...more,
});

/** The attributes that a cancellation adds to an order. */
export const cancelledBy = (keyId: string, id: string): Item => ({
  cancelledAt: { S: "2026-11-20T08:00:01.000Z" },
  cancelledBy: { S: keyId },
  cancellationId: { S: id },
});
