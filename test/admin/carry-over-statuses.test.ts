import { expect, test } from "vitest";
import { orderRules } from "../../infra/admin/carry-over-rules.ts";
import type { OrderItem as Item } from "../../shared/order.ts";
import { cancelledBy, createOldOrders, order } from "../helpers/admin/old-orders.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";

const { putOld, putNew, carryOrders, newOrders } = createOldOrders(await createTestTables());

test("a status that the service does not know comes with what was set", async () => {
  await putOld(order(1, "on hold", { until: { S: "Monday" } }), { id: { N: "2" } });
  await putNew(order(1, "pending"), { id: { N: "2" } });
  expect((await carryOrders()).json).toMatchObject({ changed: 1, alreadySo: 1 });
  expect(await newOrders()).toEqual({ 1: order(1, "on hold", { until: { S: "Monday" } }), 2: { id: { N: "2" } } });
});

test("an order without a status counts as pending in the old table, and disagrees in the new one", async () => {
  const none = (id: number): Item => ({ id: { N: String(id) } });
  await putOld(none(1), none(2), order(3, "shipped"));
  await putNew(order(2, "pending"), none(3));
  expect(await carryOrders()).toMatchObject({
    text: expect.stringContaining("Order 3 has no status, but shipped in the old table"),
    json: { placed: 1, changed: 0, alreadySo: 1, disagreements: [{ id: 3n, there: "shipped" }] },
  });
  expect(await newOrders()).toEqual({ 1: none(1), 2: order(2, "pending"), 3: none(3) });
});

test("a shipment is not left out because a leaked key cancelled the order before", async () => {
  const shipped = order(1, "shipped", cancelledBy("key_leaked", "c1"));
  await putOld(shipped, order(2, "cancelled"));
  await putNew(order(1, "pending"), order(2, "pending", cancelledBy("key_earlier", "c0")));
  expect((await carryOrders({ rules: orderRules(["key_leaked"]) })).json).toMatchObject({
    shipped: 1,
    leftOut: 0,
    cancelledBy: { "no key": 1 },
  });
  expect(await newOrders()).toMatchObject({ 1: shipped, 2: { status: { S: "cancelled" } } });
});

test("a cancellation replaces what an earlier one left behind", async () => {
  const cancelled = order(1, "cancelled", {
    ...cancelledBy("key_a", "c1"),
    cancelledAt: { S: "2026-11-20T09:00:00Z" },
  });
  await putOld(cancelled);
  await putNew(order(1, "pending", cancelledBy("key_earlier", "c0")));
  await carryOrders();
  expect(await newOrders()).toEqual({ 1: cancelled });
});
