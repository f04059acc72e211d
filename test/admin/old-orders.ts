import { randomUUID } from "node:crypto";
import { type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach } from "vitest";
import { type CarryOver, carryOver } from "../../infra/admin/carry-over.ts";
import { keyRules, orderRules } from "../../infra/admin/carry-over-rules.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import type { Clock } from "../../shared/clock.ts";
import type { OrderItem as Item } from "../../shared/order.ts";
import { createTable } from "../helpers/create-table.ts";
import type { TestTables } from "../helpers/test-tables.ts";

/** Creates an old table for each test. The new one is the test file's own. */
export function createOldTable({ client, tables, items }: TestTables, kind: "orders" | "apiKeys") {
  let from: string;
  beforeEach(async () => {
    from = `Old-${randomUUID()}`;
    await createTable(client, kind, from);
  });
  const to = tables[kind];
  const rules = kind === "orders" ? orderRules([]) : keyRules;
  const put = (TableName: string, added: Item[]) =>
    Promise.all(added.map((Item) => client.send(new PutItemCommand({ TableName, Item }))));
  return {
    name: () => from,
    putOld: (...added: Item[]) => put(from, added),
    putNew: (...added: Item[]) => put(to, added),
    /** The new table's items by the id of the order or of the key. */
    newItems: async (): Promise<Record<string, Item>> =>
      Object.fromEntries(
        (await items(kind)).map((item) => [item["id"]?.N ?? item["keyId"]?.S, item]),
      ),
    /** Carries over from the old table to the new one. */
    carry: (options: Partial<CarryOver> & { client?: DynamoDBClient; clock?: Clock } = {}) => {
      const { client: through = client, clock, ...given } = options;
      const calls = {
        reads: new TableCalls(through, undefined, clock),
        writes: new TableCalls(through, undefined, clock),
      };
      const { signal } = new AbortController();
      return carryOver({ from, to, rules, ...calls, dryRun: false, signal, ...given });
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
