import { BatchWriteItemCommand, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { orderJson } from "../../shared/order-json.ts";
import { cancelOrder, scanOrders } from "../../shared/orders-table.ts";
import { createTable } from "../helpers/create-table.ts";
import { useExternalEngine } from "../helpers/external-engine.ts";
import { shipOrder } from "../helpers/ship-order.ts";

const engine = (await useExternalEngine()) ?? (await startEngine());
const client = engineClient(engine.endpoint);
afterAll(async () => {
  client.destroy();
  await engine.stop();
});

async function createOrdersTable(name: string): Promise<string> {
  await createTable(client, "orders", name);
  return name;
}

const put = (table: string, Item: OrderItem) => client.send(new PutItemCommand({ TableName: table, Item }));

async function status(table: string, id: bigint): Promise<OrderItem | undefined> {
  const Key = { id: { N: String(id) } };
  return (await client.send(new GetItemCommand({ TableName: table, Key, ConsistentRead: true }))).Item;
}

/** Cancels an order; the result is "cancelled" or the error code. */
async function cancel(table: string, orderId: bigint, cancellationId: string): Promise<string> {
  try {
    await cancelOrder(client, table, { orderId, cancelledBy: "key_1", cancelledAt: new Date(), cancellationId });
    return "cancelled";
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
}

async function listed(table: string): Promise<string[]> {
  const orders: string[] = [];
  for await (const page of scanOrders(client, table)) orders.push(...page.map((item) => orderJson(item, {})));
  return orders;
}

describe("the orders table on a real engine", () => {
  test("returns every int64 digit for digit, and cancels by it", async () => {
    const table = await createOrdersTable("int64");
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const extremes = [-(2n ** 63n), 2n ** 63n - 1n, 0n, -1n, 2n ** 53n + 1n].map((id): [bigint, bigint] => [
      id,
      -id - 1n,
    ]);
    await fc.assert(
      fc.asyncProperty(int64, int64, async (id, petId) => {
        await put(table, { id: { N: String(id) }, petId: { N: String(petId) }, status: { S: "pending" } });
        expect(await cancel(table, id, "one")).toBe("cancelled");
        expect(await cancel(table, id, "two")).toBe("order_already_cancelled");
        expect(await listed(table)).toContain(`{"id":${id},"petId":${petId}}`);
      }),
      { examples: extremes, numRuns: 30 },
    );
  });

  test("lists every order of several pages once", async () => {
    const table = await createOrdersTable("pages");
    const count = 5000;
    // About 700 bytes each: more than three pages of 1 MB.
    const note = { S: "x".repeat(650) };
    const items = Array.from({ length: count }, (_, id) => ({ id: { N: String(id) }, petId: { N: "1" }, note }));
    for (let at = 0; at < count; at += 25) {
      const PutRequests = items.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: PutRequests } }));
    }
    const pages: number[] = [];
    for await (const page of scanOrders(client, table)) pages.push(page.length);
    const orders = await listed(table);
    expect(pages.length).toBeGreaterThan(3);
    expect(orders).toHaveLength(count);
    expect(new Set(orders)).toEqual(new Set(items.map(({ id }) => `{"id":${id.N},"petId":1}`)));
  });

  test("lists nothing when the table is empty", async () => {
    expect(await listed(await createOrdersTable("empty"))).toEqual([]);
  });

  test("lets exactly one of fifty racing cancellations win, and records which", async () => {
    const table = await createOrdersTable("racing-cancels");
    await put(table, { id: { N: "1" }, status: { S: "pending" } });
    const racers = Array.from({ length: 50 }, (_, racer) => `racer-${racer}`);
    const outcomes = await Promise.all(racers.map((racer) => cancel(table, 1n, racer)));
    const winners = racers.filter((_, racer) => outcomes[racer] === "cancelled");
    expect(winners).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "order_already_cancelled")).toHaveLength(49);
    expect(await status(table, 1n)).toMatchObject({ status: { S: "cancelled" }, cancellationId: { S: winners[0] } });
  });

  test("never both cancels and ships an order, however the two race", async () => {
    const table = await createOrdersTable("cancel-or-ship");
    const ids = Array.from({ length: 100 }, (_, id) => BigInt(id));
    await Promise.all(ids.map((id) => put(table, { id: { N: String(id) }, status: { S: "pending" } })));
    const outcomes = await Promise.all(
      ids.map((id) => Promise.all([cancel(table, id, "one"), shipOrder(client, table, id)])),
    );
    for (const [id, outcome] of outcomes.entries()) {
      const now = (await status(table, BigInt(id)))?.["status"]?.S;
      expect(outcome).toEqual(now === "shipped" ? ["order_already_shipped", true] : ["cancelled", false]);
    }
  });

  test("rejects what is not pending, and changes nothing", async () => {
    const table = await createOrdersTable("rejections");
    await put(table, { id: { N: "1" }, status: { S: "shipped" } });
    await put(table, { id: { N: "2" }, status: { S: "lost" } });
    await put(table, { id: { N: "3" } });
    expect(await cancel(table, 1n, "one")).toBe("order_already_shipped");
    expect(await cancel(table, 2n, "one")).toBe("order_not_pending");
    expect(await cancel(table, 3n, "one")).toBe("order_not_pending");
    expect(await cancel(table, 4n, "one")).toBe("order_not_found");
    expect(await status(table, 1n)).toEqual({ id: { N: "1" }, status: { S: "shipped" } });
    expect(await status(table, 4n)).toBeUndefined();
  });

  test("recognises its own cancellation whose response was lost", async () => {
    const table = await createOrdersTable("lost-responses");
    await put(table, { id: { N: "1" }, status: { S: "pending" } });
    expect(await cancel(table, 1n, "same invocation")).toBe("cancelled");
    expect(await cancel(table, 1n, "same invocation")).toBe("cancelled");
    expect(await cancel(table, 1n, "another invocation")).toBe("order_already_cancelled");
  });

  test("says internal_error for a table that does not exist", async () => {
    expect(await cancel("no-such-table", 1n, "one")).toBe("internal_error");
  });
});
