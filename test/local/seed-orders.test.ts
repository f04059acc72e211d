import { expect, test } from "vitest";
import { seedOrders } from "../../infra/local/engine/seed-orders.ts";
import type { OrderItem } from "../../shared/order.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";

const tables = await createTestTables();
const { signal } = new AbortController();

async function* orders(count: number, attributes: OrderItem = {}): AsyncGenerator<OrderItem, void, void> {
  for (let id = 1; id <= count; id++) yield { id: { N: String(id) }, status: { S: "pending" }, ...attributes };
}

test("a seed writes every order, more than one call takes of them or of their bytes", async () => {
  const note = { S: "€".repeat(130_000) };
  await seedOrders(tables.client, tables.tables.orders, orders(120), signal);
  expect(await tables.items("orders")).toHaveLength(120);
  await seedOrders(tables.client, tables.tables.orders, orders(12, { note }), signal);
  expect(await tables.items("orders")).toContainEqual({ id: { N: "12" }, status: { S: "pending" }, note });
});

test("a seed that is interrupted writes nothing more", async () => {
  const interrupted = AbortSignal.abort(new Error("interrupted"));
  await expect(seedOrders(tables.client, tables.tables.orders, orders(1), interrupted)).rejects.toThrow("interrupted");
  expect(await tables.items("orders")).toEqual([]);
});
