import { describe, expect, test } from "vitest";
import { orderRules, type Rules } from "../../infra/admin/carry-over-rules.ts";
import type { OrderItem as Item } from "../../shared/order.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { cancelledBy, createOldTable, order } from "./old-orders.ts";

const tables = await createTestTables();
const { orders: to, apiKeys } = tables.tables;
const { putOld, putNew, carry, newItems } = createOldTable(tables, "orders");

describe("carrying orders over", () => {
  test("brings what happened since", async () => {
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

  const someOfEachKind = async () => {
    await putOld(
      order(1, "pending"),
      order(2, "shipped"),
      order(3, "cancelled", cancelledBy("key_a", "c3")),
      order(4, "pending"),
      order(5, "cancelled", cancelledBy("key_b", "c5")),
    );
    await putNew(order(1, "pending"), order(2, "pending"), order(3, "pending"));
  };

  test("says how many orders of each kind it brought and whose cancellations those were", async () => {
    await someOfEachKind();
    const counts = {
      placed: 2,
      shipped: 1,
      cancelled: 2,
      changed: 0,
      alreadySo: 1,
      leftOut: 0,
      disagreeing: 0,
    };
    const cancelledByKey = { key_a: 1, key_b: 1 };
    expect(await carry()).toEqual({
      text: expect.stringMatching(
        new RegExp(
          ": 2 placed, 1 shipped, 2 cancelled, 0 changed, 1 already so, 0 left out, " +
            "0 disagreeing\nCANCELLED BY {2}ORDERS\n(?:key_[ab] {9}1\n?){2}$",
        ),
      ),
      json: {
        to,
        dryRun: false,
        complete: true,
        ...counts,
        cancelledBy: cancelledByKey,
        disagreements: [],
      },
      rejected: false,
    });
  });

  test("brings nothing a second time", async () => {
    await someOfEachKind();
    await carry();
    expect((await carry()).json).toMatchObject({
      placed: 0,
      shipped: 0,
      cancelled: 0,
      alreadySo: 5,
      cancelledBy: {},
    });
  });

  const disagreeing = {
    1: { id: { N: "1" } },
    2: order(2, "shipped"),
    3: order(3, "shipped"),
  };
  const disagree = async () => {
    await putOld(
      order(1, "shipped"),
      order(2, "cancelled", cancelledBy("key_a", "old")),
      order(3, "pending"),
    );
    await putNew(...Object.values(disagreeing));
  };

  test("lists the orders that disagree", async () => {
    await disagree();
    const { text, json, rejected } = await carry();
    expect(text?.split("\n").slice(1).sort()).toEqual([
      "Order 1 has no status, but shipped in the old table",
      "Order 2 is shipped, but cancelled in the old table",
    ]);
    expect(json).toMatchObject({
      complete: true,
      alreadySo: 1,
      disagreeing: 2,
      disagreements: expect.arrayContaining([{ id: 2n, here: "shipped", there: "cancelled" }]),
    });
    expect(rejected).toBe(true);
  });

  test("leaves the orders that disagree as they are", async () => {
    await disagree();
    await carry();
    expect(await newItems()).toEqual(disagreeing);
  });

  test("goes on past an order that disagrees and has an id that no client can name", async () => {
    await putOld({ ...order(1, "cancelled"), id: { N: "1.5" } }, order(2, "shipped"));
    await putNew({ ...order(1, "shipped"), id: { N: "1.5" } }, order(2, "pending"));
    expect((await carry()).json).toMatchObject({
      complete: true,
      shipped: 1,
      disagreements: [{ id: "1.5", here: "shipped", there: "cancelled" }],
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

    test("cancels no order that only it cancelled", async () => {
      await putBoth();
      await carry({ rules });
      expect(await newItems()).toEqual(wanted);
    });

    test("places a missing order that it cancelled as pending", async () => {
      await putOld(leaked(2));
      await carry({ rules });
      expect(await newItems()).toEqual({ 2: placed });
    });

    test("counts them as left out", async () => {
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

    test("brings nothing a second time", async () => {
      await putBoth();
      await carry({ rules });
      const again = { placed: 0, cancelled: 0, leftOut: 3, alreadySo: 2 };
      expect((await carry({ rules })).json).toMatchObject(again);
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

  test("says that the old table is another kind of table", async () => {
    await tables.putKey();
    expect(await carry({ from: apiKeys })).toMatchObject({
      note: `${apiKeys} has an item without id: it is another kind of table. The rest is not carried over yet.`,
      rejected: true,
    });
  });
});

const none: Item = { id: { N: "1" } };
const byA = cancelledBy("key_a", "c1");
const byLeaked = cancelledBy("key_leaked", "c0");
const more: Item = { note: { S: "theirs" } };

test.each<[string, Item, Item | undefined, ReturnType<Rules["judge"]>]>([
  [
    "a cancellation comes with what others added, and replaces no more than an earlier one left",
    order(1, "cancelled", { ...byA, petId: { N: "5" }, ...more }),
    order(1, "pending", byLeaked),
    { outcomes: ["cancelled"], set: { status: { S: "cancelled" }, ...byA, ...more } },
  ],
  [
    "a shipment is not left out because a leaked key cancelled the order before",
    order(1, "shipped", byLeaked),
    order(1, "pending"),
    { outcomes: ["shipped"], set: { status: { S: "shipped" }, ...byLeaked } },
  ],
  [
    "a status that the service does not know comes with what was set",
    order(1, "on hold", more),
    order(1, "pending"),
    { outcomes: ["changed"], set: { status: { S: "on hold" }, ...more } },
  ],
  [
    "an order without a status is placed like a pending one",
    none,
    undefined,
    { outcomes: ["placed"], set: none },
  ],
  [
    "an order without a status changes none that is pending",
    none,
    order(1, "pending"),
    { outcomes: ["alreadySo"] },
  ],
  ["an order without a status agrees with itself", none, none, { outcomes: ["alreadySo"] }],
])("%s", (_, old, current, judgement) => {
  expect(orderRules(["key_leaked"]).judge(old, current)).toEqual(judgement);
});
