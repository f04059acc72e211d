import { randomUUID } from "node:crypto";
import { DeleteItemCommand, type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, test } from "vitest";

import { carryOver } from "../../infra/admin/carry-over.ts";
import { keyRules, orderRules, type Rules } from "../../infra/admin/carry-over-rules.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import type { OrderItem as Item } from "../../shared/order.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { createTable } from "../helpers/create-table.ts";
import { respond } from "../helpers/faults/fault-proxy.ts";
import { applied, unnoticed } from "../helpers/faults/faults.ts";

const tables = await createTestTables();
const { client } = tables;
const { orders: to, apiKeys } = tables.tables;
let from: string;

beforeEach(async () => {
  from = `Old-${randomUUID()}`;
  await createTable(client, "orders", from);
});

interface Options {
  client?: DynamoDBClient;
  rules?: Rules;
  dryRun?: boolean;
  signal?: AbortSignal;
}

/** Carries over from the old table of orders to the new one. */
function carryOrders(options: Options = {}) {
  const { client: through = client, rules = orderRules([]), dryRun = false } = options;
  const [reads, writes] = [new TableCalls(through), new TableCalls(through)];
  const { signal = new AbortController().signal } = options;
  return carryOver({ rules, from, to, reads, writes, dryRun, signal });
}

const order = (id: number, status: string, more: Item = {}): Item => ({
  id: { N: String(id) },
  petId: { N: "9007199254740993" },
  status: { S: status },
  ...more,
});
const cancelledBy = (keyId: string, id: string): Item => ({
  cancelledAt: { S: "2026-11-20T08:00:01.000Z" },
  cancelledBy: { S: keyId },
  cancellationId: { S: id },
});

async function put(table: string, ...items: Item[]): Promise<void> {
  await Promise.all(items.map((Item) => client.send(new PutItemCommand({ TableName: table, Item }))));
}

/** The new table's orders by their id. */
async function newOrders(): Promise<Record<string, Item>> {
  return Object.fromEntries((await tables.items("orders")).map((item) => [item["id"]?.N, item]));
}

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
    await put(
      from,
      order(1, "pending"),
      shipped,
      cancelled,
      order(4, "pending"),
      placedAndCancelled,
      order(6, "shipped"),
    );
    await put(
      to,
      order(1, "pending"),
      order(2, "pending", { complete: { BOOL: false } }),
      order(3, "pending"),
      order(6, "shipped"),
    );

    expect(await carryOrders()).toEqual({
      text: expect.stringContaining(
        "2 placed, 1 shipped, 2 cancelled, 0 changed, 2 already so, 0 left out, 0 disagreeing\n",
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
    await put(from, order(1, "cancelled", { ...cancelledBy("key_a", "c1"), petId: { N: "5" }, ...refund }));
    await put(to, order(1, "pending"));
    await carryOrders();
    expect(await newOrders()).toEqual({ 1: order(1, "cancelled", { ...cancelledBy("key_a", "c1"), ...refund }) });
  });

  test("values that were only corrected stay behind", async () => {
    await put(from, order(1, "pending", { petId: { N: "5" } }), order(2, "shipped", { petId: { N: "5" } }));
    await put(to, order(1, "pending"), order(2, "shipped"));
    expect((await carryOrders()).json).toMatchObject({ alreadySo: 2 });
    expect(await newOrders()).toEqual({ 1: order(1, "pending"), 2: order(2, "shipped") });
  });

  test("a status that the service does not know comes with what was set", async () => {
    await put(from, order(1, "on hold", { until: { S: "Monday" } }), { id: { N: "2" } });
    await put(to, order(1, "pending"), { id: { N: "2" } });
    expect((await carryOrders()).json).toMatchObject({ changed: 1, alreadySo: 1 });
    expect(await newOrders()).toEqual({ 1: order(1, "on hold", { until: { S: "Monday" } }), 2: { id: { N: "2" } } });
  });

  test("lists the orders that disagree, and leaves them as they are", async () => {
    await put(from, order(1, "shipped"), order(2, "cancelled", cancelledBy("key_a", "old")), order(3, "pending"));
    const here = {
      1: order(1, "cancelled", cancelledBy("key_b", "new")),
      2: order(2, "shipped"),
      3: order(3, "shipped"),
    };
    await put(to, ...Object.values(here));
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
    await put(from, leaked(1), leaked(2), leaked(3), order(4, "cancelled", cancelledBy("key_a", "c4")));
    await put(to, order(1, "pending"), order(3, "shipped"), order(4, "pending"));
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

  test("writes nothing in a dry run, and says what it would do", async () => {
    await put(from, order(1, "shipped"), order(2, "pending"));
    await put(to, order(1, "pending"));
    expect(await carryOrders({ dryRun: true })).toMatchObject({
      text: expect.stringMatching(/^Would carry over to /),
      json: { dryRun: true, placed: 1, shipped: 1 },
      rejected: false,
    });
    expect(await newOrders()).toEqual({ 1: order(1, "pending") });
  });

  test("spends a write on nothing that is there already", async () => {
    const ids = Array.from({ length: 101 }, (_, id) => id);
    await put(from, ...ids.map((id) => order(id, "pending")));
    await put(to, ...ids.map((id) => order(id, id % 2 ? "pending" : "shipped")));
    const { proxy, target } = await tables.behindProxy(() => undefined);
    expect((await carryOrders({ client: target.client })).json).toMatchObject({ alreadySo: 101 });
    expect(Object.fromEntries(proxy.attempts)).toEqual({ Scan: 1, GetItem: 101 });
  });

  test("says that the old table is another kind of table", async () => {
    from = apiKeys;
    await tables.putKey();
    expect(await carryOrders()).toMatchObject({
      note: `${apiKeys} has an item without id: it is another kind of table. The rest is not carried over yet.`,
      rejected: true,
    });
  });
});

describe("carrying orders over while others write and responses get lost", () => {
  test.each([
    { old: "cancelled", faster: "cancelled", json: { alreadySo: 1, cancelled: 0 }, rejected: false },
    { old: "cancelled", faster: "shipped", json: { disagreeing: 1, cancelled: 0 }, rejected: true },
    { old: "shipped", faster: "cancelled", json: { disagreeing: 1, shipped: 0 }, rejected: true },
  ])("leaves an order alone that is $faster just before it would be $old", async ({ old, faster, ...outcome }) => {
    const theirs = order(1, faster, cancelledBy("key_new", "new"));
    await put(from, order(1, old, cancelledBy("key_old", "old")));
    await put(to, order(1, "pending"));
    const { target } = await tables.behindProxy(({ operation }) =>
      operation !== "UpdateItem"
        ? undefined
        : async ({ forward, response }) => {
            await put(to, theirs);
            respond(response, await forward());
          },
    );
    expect(await carryOrders({ client: target.client })).toMatchObject(outcome);
    expect(await newOrders()).toEqual({ 1: theirs });
  });

  test("cancels an order that someone else places, pending, just before it would be", async () => {
    await put(from, order(1, "cancelled", cancelledBy("key_a", "c1")));
    const { target } = await tables.behindProxy(({ operation }) =>
      operation !== "PutItem"
        ? undefined
        : async ({ forward, response }) => {
            await put(to, order(1, "pending", { petId: { N: "7" } }));
            respond(response, await forward());
          },
    );
    expect((await carryOrders({ client: target.client })).json).toMatchObject({ placed: 0, cancelled: 1 });
    expect(await newOrders()).toEqual({
      1: order(1, "cancelled", { petId: { N: "7" }, ...cancelledBy("key_a", "c1") }),
    });
  });

  test("counts what was written though its response was lost", async () => {
    await put(from, order(1, "cancelled", cancelledBy("key_a", "c1")), order(2, "pending"));
    await put(to, order(1, "pending"));
    const { proxy, target } = await tables.behindProxy(({ operation, attempt }) =>
      /^(Update|Put)Item$/.test(operation) && attempt === 1 ? applied["reset after the engine"] : undefined,
    );
    expect((await carryOrders({ client: target.client })).json).toMatchObject({
      cancelled: 1,
      placed: 1,
      alreadySo: 0,
    });
    expect(Object.fromEntries(proxy.attempts)).toMatchObject({ UpdateItem: 2, PutItem: 2 });
  });

  test("does not count as its own what someone else wrote while its request was lost", async () => {
    await put(from, order(1, "cancelled", cancelledBy("key_a", "c1")));
    await put(to, order(1, "pending"));
    const theirs = order(1, "cancelled", cancelledBy("key_b", "c2"));
    const { target } = await tables.behindProxy(({ operation, attempt }) =>
      operation !== "UpdateItem" || attempt > 1
        ? undefined
        : async ({ response }) => {
            await put(to, theirs);
            response.socket?.resetAndDestroy();
          },
    );
    expect((await carryOrders({ client: target.client })).json).toMatchObject({ cancelled: 0, alreadySo: 1 });
    expect(await newOrders()).toEqual({ 1: theirs });
  });

  test.each(["Scan", "GetItem", "UpdateItem", "PutItem"])("takes no empty response to %s for one", async (name) => {
    await put(from, order(1, "shipped"), order(2, "pending"));
    await put(to, order(1, "pending"));
    const { target } = await tables.behindProxy(({ operation }) =>
      operation === name ? unnoticed["an empty response of no length"] : undefined,
    );
    expect(await carryOrders({ client: target.client })).toMatchObject({
      json: { complete: false },
      note: `The response to ${name} is empty. Run the command again. The rest is not carried over yet.`,
      rejected: true,
    });
    expect((await carryOrders()).json).toMatchObject({ complete: true, alreadySo: expect.any(Number) });
    expect(await newOrders()).toEqual({ 1: order(1, "shipped"), 2: order(2, "pending") });
  });

  test("stops when it is interrupted, and says so", async () => {
    await put(from, ...Array.from({ length: 100 }, (_, id) => order(id, "shipped")));
    const interrupted = new AbortController();
    const { target } = await tables.behindProxy(({ operation }) => {
      if (operation === "PutItem") interrupted.abort();
      return undefined;
    });
    const result = await carryOrders({ client: target.client, signal: interrupted.signal });
    expect(result).toMatchObject({
      json: { complete: false },
      note: "Interrupted. The rest is not carried over yet.",
      rejected: true,
    });
    const carried = Object.keys(await newOrders()).length;
    expect(carried).toBeLessThan(100);
    expect(result.json).toMatchObject({ placed: carried, shipped: carried });
  });
});

describe("carrying keys over", () => {
  const key = (name: string, more: Item = {}): Item => ({
    keyHash: { S: `hash of ${name}` },
    keyId: { S: `key_${name}` },
    createdAt: { N: "1800000000" },
    ...more,
  });
  const revoked: Item = { revokedAt: { N: "1800000001" } };
  const revokedLater: Item = { revokedAt: { N: "1800000099" } };
  const carryKeys = (through: DynamoDBClient = client) =>
    carryOver({
      ...{ from, to: apiKeys, rules: keyRules, dryRun: false },
      ...{ reads: new TableCalls(through), writes: new TableCalls(through), signal: new AbortController().signal },
    });
  const newKeys = async () =>
    Object.fromEntries((await tables.items("apiKeys")).map((item) => [item["keyId"]?.S, item]));

  beforeEach(async () => {
    from = `Old-${randomUUID()}`;
    await createTable(client, "apiKeys", from);
  });

  test("brings missing keys and revocations with their old times, and revives none", async () => {
    await put(from, key("issued"), key("revoked", revoked), key("both", revoked), key("active"));
    await put(from, key("twice", revoked), key("here"));
    await put(apiKeys, key("revoked"), key("active"), key("twice", revokedLater), key("here", revokedLater));
    expect(await carryKeys()).toEqual({
      text: `Carried over to ${apiKeys}: 2 issued, 2 revoked, 3 already so`,
      json: { to: apiKeys, dryRun: false, complete: true, issued: 2, revoked: 2, alreadySo: 3 },
      rejected: false,
    });
    expect(await newKeys()).toEqual({
      key_issued: key("issued"),
      key_revoked: key("revoked", revoked),
      key_both: key("both", revoked),
      key_active: key("active"),
      key_twice: key("twice", revokedLater),
      key_here: key("here", revokedLater),
    });
    expect((await carryKeys()).json).toMatchObject({ issued: 0, revoked: 0, alreadySo: 6 });
  });

  test("keeps the time of a revocation that is faster", async () => {
    await put(from, key("a", revoked));
    await put(apiKeys, key("a"));
    const { target } = await tables.behindProxy(({ operation }) =>
      operation !== "UpdateItem"
        ? undefined
        : async ({ forward, response }) => {
            await put(apiKeys, key("a", revokedLater));
            respond(response, await forward());
          },
    );
    expect((await carryKeys(target.client)).json).toMatchObject({ revoked: 0, alreadySo: 1 });
    expect(await newKeys()).toEqual({ key_a: key("a", revokedLater) });
  });

  test("makes no half of a key that is gone when it is to be revoked", async () => {
    await put(from, key("a", revoked));
    await put(apiKeys, key("a"));
    const { target } = await tables.behindProxy(({ operation }) =>
      operation !== "UpdateItem"
        ? undefined
        : async ({ forward, response }) => {
            const { keyHash } = key("a");
            await client.send(new DeleteItemCommand({ TableName: apiKeys, Key: { keyHash: keyHash ?? { S: "" } } }));
            respond(response, await forward());
          },
    );
    expect((await carryKeys(target.client)).json).toMatchObject({ issued: 1, revoked: 1 });
    expect(await newKeys()).toEqual({ key_a: key("a", revoked) });
  });
});
