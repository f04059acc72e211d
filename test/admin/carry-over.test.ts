import { describe, expect, test } from "vitest";
import { orderRules } from "../../infra/admin/carry-over-rules.ts";
import type { OrderItem as Item } from "../../shared/order.ts";
import { cancelledBy, createOldOrders, order } from "../helpers/admin/old-orders.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";

const tables = await createTestTables();
const { orders: to, apiKeys } = tables.tables;
const { putOld, putNew, carryOrders, newOrders } = createOldOrders(tables);

describe("carrying orders over", () => {
  test("brings what happened since, and says how much of each kind and of each key", async () => {
    const theirs: Item = {
      carrier: { S: "DHL" },
      parcels: { SS: ["a", "b"] },
      signed: { B: new Uint8Array([0, 255]) },
    };
    const shipped = order(2, "shipped", {
      shipDate: { S: "2026-11-20T09:00:00Z" },
      complete: { BOOL: true },
      ...theirs,
    });
    const cancelled = order(3, "cancelled", cancelledBy("key_a", "c3"));
    const placedAndCancelled = order(5, "cancelled", cancelledBy("key_b", "c5"));
    await putOld(order(1, "pending"), shipped, cancelled, order(4, "pending"), placedAndCancelled, order(6, "shipped"));
    await putNew(
      order(1, "pending"),
      order(2, "pending", { complete: { BOOL: false } }),
      order(3, "pending"),
      order(6, "shipped"),
    );

    expect(await carryOrders()).toEqual({
      text: expect.stringMatching(
        /2 placed, 1 shipped, 2 cancelled, 0 changed, 2 already so, 0 left out, 0 disagreeing\nCANCELLED BY {2}ORDERS\n(?:key_[ab] {9}1\n?){2}$/,
      ),
      json: {
        to,
        dryRun: false,
        complete: true,
        placed: 2,
        shipped: 1,
        cancelled: 2,
        changed: 0,
        alreadySo: 2,
        leftOut: 0,
        disagreeing: 0,
        cancelledBy: { key_a: 1, key_b: 1 },
        disagreements: [],
      },
      rejected: false,
    });
    expect(await newOrders()).toEqual({
      1: order(1, "pending"),
      2: shipped,
      3: cancelled,
      4: order(4, "pending"),
      5: placedAndCancelled,
      6: order(6, "shipped"),
    });
    expect((await carryOrders()).json).toMatchObject({
      placed: 0,
      shipped: 0,
      cancelled: 0,
      alreadySo: 6,
      cancelledBy: {},
    });
  });

  test("a cancellation changes no value that is there, and brings what other teams added", async () => {
    const refund: Item = { refund: { S: "R-1" } };
    await putOld(order(1, "cancelled", { ...cancelledBy("key_a", "c1"), petId: { N: "5" }, ...refund }));
    await putNew(order(1, "pending"));
    await carryOrders();
    expect(await newOrders()).toEqual({ 1: order(1, "cancelled", { ...cancelledBy("key_a", "c1"), ...refund }) });
  });

  test("lists the orders that disagree, and leaves them as they are", async () => {
    await putOld(order(1, "shipped"), order(2, "cancelled", cancelledBy("key_a", "old")), order(3, "pending"));
    const here = {
      1: order(1, "cancelled", cancelledBy("key_b", "new")),
      2: order(2, "shipped"),
      3: order(3, "shipped"),
    };
    await putNew(...Object.values(here));
    const result = await carryOrders();
    expect(result).toMatchObject({
      text: expect.stringContaining("Order 2 is shipped, but cancelled in the old table"),
      json: { alreadySo: 1, disagreeing: 2, complete: true },
      rejected: true,
    });
    expect(result.json).toHaveProperty(
      "disagreements",
      expect.toSatisfy((list: unknown[]) => list.length === 2),
    );
    expect(result.json).toHaveProperty(
      "disagreements",
      expect.arrayContaining([
        { id: 1n, here: "cancelled", there: "shipped" },
        { id: 2n, here: "shipped", there: "cancelled" },
      ]),
    );
    expect(await newOrders()).toEqual(here);
  });

  test("leaves out what a leaked key cancelled, and places the orders it cancelled as pending", async () => {
    const leaked = (id: number): Item =>
      order(id, "cancelled", { ...cancelledBy("key_leaked", `c${id}`), note: { S: "x" } });
    await putOld(leaked(1), leaked(2), leaked(3), order(4, "cancelled", cancelledBy("key_a", "c4")));
    await putNew(order(1, "pending"), order(3, "shipped"), order(4, "pending"));
    const rules = orderRules(["key_other", "key_leaked"]);
    expect(await carryOrders({ rules })).toMatchObject({
      json: { placed: 1, cancelled: 1, leftOut: 3, disagreeing: 0, cancelledBy: { key_a: 1 } },
      rejected: false,
    });
    const wanted = {
      1: order(1, "pending"),
      2: order(2, "pending", { note: { S: "x" } }),
      3: order(3, "shipped"),
      4: order(4, "cancelled", cancelledBy("key_a", "c4")),
    };
    expect(await newOrders()).toEqual(wanted);
    expect((await carryOrders({ rules })).json).toMatchObject({ placed: 0, cancelled: 0, leftOut: 3, alreadySo: 1 });
    expect(await newOrders()).toEqual(wanted);
  });

  test("spends half a read unit, and no write, on what is there already", async () => {
    const ids = Array.from({ length: 101 }, (_, id) => id);
    await putOld(...ids.map((id) => order(id, "pending")));
    await putNew(...ids.map((id) => order(id, id % 2 ? "pending" : "shipped")));
    const { proxy, target } = await tables.behindProxy(({ operation, input }) => {
      // Half a read unit for each.
      if (operation === "GetItem") expect(JSON.parse(input)).not.toHaveProperty("ConsistentRead");
      return undefined;
    });
    expect((await carryOrders({ client: target.client })).json).toMatchObject({ alreadySo: 101 });
    expect(Object.fromEntries(proxy.attempts)).toEqual({ Scan: 1, GetItem: 101 });
  });

  test("says that the old table is another kind of table", async () => {
    await tables.putKey();
    expect(await carryOrders({ from: apiKeys })).toMatchObject({
      note: `${apiKeys} has an item without id: it is another kind of table. The rest is not carried over yet.`,
      rejected: true,
    });
  });
});

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
