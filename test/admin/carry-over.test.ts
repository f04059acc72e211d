import { describe, expect, test } from "vitest";
import { orderRules, type Rules } from "../../infra/admin/carry-over-rules.ts";
import type { OrderItem as Item } from "../../shared/order.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { cancelledBy, createOldTable, order } from "./old-orders.ts";

const tables = await createTestTables();
const { orders: to, apiKeys } = tables.tables;
const { putOld, putNew, carry, newItems } = createOldTable(tables, "orders");

describe("carrying orders over", () => {
  test("applies the old table's placements, shipments and cancellations", async () => {
    const othersAttributes: Item = {
      carrier: { S: "DHL" },
      parcels: { SS: ["a", "b"] },
      signed: { B: new Uint8Array([0, 255]) },
    };
    const shipped = order(2, "shipped", {
      shipDate: { S: "2026-11-20T09:00:00Z" },
      complete: { BOOL: true },
      ...othersAttributes,
    });
    const cancelled = order(3, "cancelled", cancelledBy("key_a", "c3"));
    const placedAndCancelled = order(5, "cancelled", cancelledBy("key_b", "c5"));
    await putOld(
      order(1, "pending"),
      shipped,
      cancelled,
      order(4, "pending"),
      placedAndCancelled,
      order(6, "shipped"),
    );
    await putNew(
      order(1, "pending"),
      order(2, "pending", { complete: { BOOL: false } }),
      order(3, "pending"),
      order(6, "shipped"),
    );

    await carry();
    expect(await newItems()).toEqual({
      1: order(1, "pending"),
      2: shipped,
      3: cancelled,
      4: order(4, "pending"),
      5: placedAndCancelled,
      6: order(6, "shipped"),
    });
  });

  const putSomeOfEachKind = async () => {
    await putOld(
      order(1, "pending"),
      order(2, "shipped"),
      order(3, "cancelled", cancelledBy("key_a", "c3")),
      order(4, "pending"),
      order(5, "cancelled", cancelledBy("key_b", "c5")),
    );
    await putNew(order(1, "pending"), order(2, "pending"), order(3, "pending"));
  };

  test("counts the orders it carried over by what happened to them", async () => {
    await putSomeOfEachKind();
    const { text, json, rejected } = await carry();
    expect(text?.split("\n")[0]).toBe(
      `Carried over to ${to}: 2 placed, 1 shipped, 2 cancelled, 0 changed, 1 already so, ` +
        "0 left out, 0 disagreeing",
    );
    expect(json).toEqual({
      to,
      dryRun: false,
      complete: true,
      placed: 2,
      shipped: 1,
      cancelled: 2,
      changed: 0,
      alreadySo: 1,
      leftOut: 0,
      disagreeing: 0,
      cancelledBy: expect.any(Object),
      disagreements: [],
    });
    expect(rejected).toBe(false);
  });

  test("counts the cancellations it carried over by key", async () => {
    await putSomeOfEachKind();
    const { text, json } = await carry();
    const [header, ...rows] = text?.split("\n").slice(1) ?? [];
    expect(header).toBe("CANCELLED BY  ORDERS");
    expect(rows.sort()).toEqual(["key_a         1", "key_b         1"]);
    expect(json).toMatchObject({ cancelledBy: { key_a: 1, key_b: 1 } });
  });

  test("changes nothing when it is run again", async () => {
    await putSomeOfEachKind();
    await carry();
    const before = await newItems();
    const { json } = await carry();
    expect(json).toMatchObject({
      placed: 0,
      shipped: 0,
      cancelled: 0,
      alreadySo: 5,
      cancelledBy: {},
    });
    expect(await newItems()).toEqual(before);
  });

  const disagreeing = {
    1: { id: { N: "1" } },
    2: order(2, "shipped"),
    3: order(3, "shipped"),
  };
  const putDisagreeing = async () => {
    await putOld(
      order(1, "shipped"),
      order(2, "cancelled", cancelledBy("key_a", "old")),
      order(3, "pending"),
    );
    await putNew(...Object.values(disagreeing));
  };

  test("lists the orders on which the two tables disagree", async () => {
    await putDisagreeing();
    const { text, json } = await carry();
    expect(text?.split("\n").slice(1).sort()).toEqual([
      "Order 1 has no status, but shipped in the old table",
      "Order 2 is shipped, but cancelled in the old table",
    ]);
    expect(json).toMatchObject({
      complete: true,
      alreadySo: 1,
      disagreeing: 2,
      disagreements: expect.arrayContaining([
        { id: 2n, newStatus: "shipped", oldStatus: "cancelled" },
      ]),
    });
  });

  test("is rejected when the two tables disagree on an order", async () => {
    await putDisagreeing();
    expect((await carry()).rejected).toBe(true);
  });

  test("leaves the orders on which the two tables disagree as they are", async () => {
    await putDisagreeing();
    await carry();
    expect(await newItems()).toEqual(disagreeing);
  });

  test("continues after a disagreement on an order whose id is not an integer", async () => {
    await putOld({ ...order(1, "cancelled"), id: { N: "1.5" } }, order(2, "shipped"));
    await putNew({ ...order(1, "shipped"), id: { N: "1.5" } }, order(2, "pending"));
    expect((await carry()).json).toMatchObject({
      complete: true,
      shipped: 1,
      disagreements: [{ id: "1.5", newStatus: "shipped", oldStatus: "cancelled" }],
    });
  });

  describe("without a leaked key's cancellations", () => {
    const rules = orderRules(["key_other", "key_leaked"]);
    const leaked = (id: number): Item =>
      order(id, "cancelled", { ...cancelledBy("key_leaked", `c${id}`), note: { S: "x" } });
    const placed = order(2, "pending", { note: { S: "x" } });
    const wanted = {
      1: order(1, "pending"),
      2: placed,
      3: order(3, "shipped"),
      4: order(4, "cancelled"),
      5: leaked(5),
    };
    const putBoth = async () => {
      await putOld(leaked(1), leaked(2), leaked(3), order(4, "cancelled"), leaked(5));
      await putNew(order(1, "pending"), order(3, "shipped"), order(4, "pending"), leaked(5));
    };

    test("cancels no order that only the leaked key cancelled", async () => {
      await putBoth();
      await carry({ rules });
      expect(await newItems()).toEqual(wanted);
    });

    test("places a missing order as pending if the leaked key cancelled it", async () => {
      await putOld(leaked(2));
      await carry({ rules });
      expect(await newItems()).toEqual({ 2: placed });
    });

    test("counts the leaked key's cancellations as left out", async () => {
      await putBoth();
      const { json, rejected } = await carry({ rules });
      expect(json).toMatchObject({
        placed: 1,
        cancelled: 1,
        alreadySo: 1,
        leftOut: 3,
        disagreeing: 0,
        cancelledBy: { "no key": 1 },
      });
      expect(rejected).toBe(false);
    });

    test("changes nothing when it is run again", async () => {
      await putBoth();
      await carry({ rules });
      const { json } = await carry({ rules });
      expect(json).toMatchObject({ placed: 0, cancelled: 0, leftOut: 3, alreadySo: 2 });
      expect(await newItems()).toEqual(wanted);
    });
  });

  test("spends no more than half a read unit on an order that is there already", async () => {
    const ids = Array.from({ length: 101 }, (_, id) => id);
    await putOld(...ids.map((id) => order(id, "pending")));
    await putNew(...ids.map((id) => order(id, id % 2 ? "pending" : "shipped")));
    const { proxy, target } = await tables.behindProxy(({ operation, input }) => {
      // Half a read unit for each.
      if (operation === "GetItem") expect(JSON.parse(input)).not.toHaveProperty("ConsistentRead");
      return undefined;
    });
    expect((await carry({ client: target.client })).json).toMatchObject({ alreadySo: 101 });
    expect(Object.fromEntries(proxy.attempts)).toEqual({ Scan: 1, GetItem: 101 });
  });

  test("rejects an old table of another kind", async () => {
    await tables.putKey();
    expect(await carry({ from: apiKeys })).toMatchObject({
      note:
        `${apiKeys} has an item without id: it is another kind of table. ` +
        "The rest is not carried over yet.",
      rejected: true,
    });
  });
});

const withoutStatus: Item = { id: { N: "1" } };
const byA = cancelledBy("key_a", "c1");
const byLeaked = cancelledBy("key_leaked", "c0");
const more: Item = { note: { S: "theirs" } };

test.each<[string, Item, Item | undefined, ReturnType<Rules["judge"]>]>([
  [
    "a cancellation comes with the attributes that the new table lacks",
    order(1, "cancelled", { ...byA, ...more }),
    order(1, "pending"),
    { outcomes: ["cancelled"], set: { status: { S: "cancelled" }, ...byA, ...more } },
  ],
  [
    "a cancellation replaces only the attributes of an earlier cancellation",
    order(1, "cancelled", { ...byA, petId: { N: "5" } }),
    order(1, "pending", byLeaked),
    { outcomes: ["cancelled"], set: { status: { S: "cancelled" }, ...byA } },
  ],
  [
    "a shipment is carried over even if a leaked key cancelled the order before",
    order(1, "shipped", byLeaked),
    order(1, "pending"),
    { outcomes: ["shipped"], set: { status: { S: "shipped" }, ...byLeaked } },
  ],
  [
    "an unknown status is carried over with the attributes that were set with it",
    order(1, "on hold", more),
    order(1, "pending"),
    { outcomes: ["changed"], set: { status: { S: "on hold" }, ...more } },
  ],
  [
    "an order without a status is placed like a pending one",
    withoutStatus,
    undefined,
    { outcomes: ["placed"], set: withoutStatus },
  ],
  [
    "an order without a status leaves a pending one as it is",
    withoutStatus,
    order(1, "pending"),
    { outcomes: ["alreadySo"] },
  ],
  [
    "an order without a status agrees with itself",
    withoutStatus,
    withoutStatus,
    { outcomes: ["alreadySo"] },
  ],
])("%s", (_, old, current, judgement) => {
  expect(orderRules(["key_leaked"]).judge(old, current)).toEqual(judgement);
});
