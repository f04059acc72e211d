import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { orderJson } from "../../shared/order-json.ts";
import { cancelOrder, scanOrders } from "../../shared/orders-table.ts";
import { cancellations } from "../helpers/cancellations.ts";
import { createTable } from "../helpers/create-table.ts";
import { useExternalEngine } from "../helpers/external-engine.ts";

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

const put = (table: string, Item: OrderItem) =>
  client.send(new PutItemCommand({ TableName: table, Item }));

async function order(table: string, id: bigint): Promise<OrderItem | undefined> {
  const Key = { id: { N: String(id) } };
  return (await client.send(new GetItemCommand({ TableName: table, Key, ConsistentRead: true })))
    .Item;
}

/** Cancels an order; the outcome is 204 or the error code. */
async function cancel(
  table: string,
  orderId: bigint,
  cancellationId: string,
): Promise<204 | string> {
  try {
    await cancelOrder(client, table, {
      orderId,
      cancelledBy: "key_1",
      cancelledAt: new Date(),
      cancellationId,
    });
    return 204;
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
}

async function listed(table: string): Promise<string[]> {
  const orders: string[] = [];
  for await (const page of scanOrders(client, table))
    orders.push(...page.map((item) => orderJson(item, {})));
  return orders;
}

describe("the orders table on a real engine", () => {
  test("cancels and lists an order of any int64 digit for digit", async () => {
    const table = await createOrdersTable("int64");
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const extremes = [-(2n ** 63n), 2n ** 63n - 1n, 0n, -1n, 2n ** 53n + 1n].map(
      (id): [bigint, bigint] => [id, -id - 1n],
    );
    await fc.assert(
      fc.asyncProperty(int64, int64, async (id, petId) => {
        await put(table, {
          id: { N: String(id) },
          petId: { N: String(petId) },
          status: { S: "pending" },
        });
        expect(await cancel(table, id, "one")).toBe(204);
        expect(await cancel(table, id, "two")).toBe("order_already_cancelled");
        expect(await listed(table)).toContain(`{"id":${id},"petId":${petId}}`);
      }),
      { examples: extremes, numRuns: 30 },
    );
  });

  test("lists every order of several pages once", async () => {
    const table = await createOrdersTable("pages");
    // Two of them fit into a page of 1 MB; DynamoDB Local adds a third.
    const padding = { S: "x".repeat(380_000) };
    const ids = Array.from({ length: 9 }, (_, id) => String(id));
    for (const N of ids) await put(table, { id: { N }, petId: { N: "1" }, padding });
    expect((await Array.fromAsync(scanOrders(client, table))).length).toBeGreaterThan(2);
    expect((await listed(table)).sort()).toEqual(ids.map((id) => `{"id":${id},"petId":1}`));
  });

  test("records the one of fifty racing cancellations that wins", async () => {
    const table = await createOrdersTable("racing-cancels");
    await put(table, { id: { N: "1" }, status: { S: "pending" } });
    const racers = Array.from({ length: 50 }, (_, racer) => `racer-${racer}`);
    const outcomes = await Promise.all(racers.map((racer) => cancel(table, 1n, racer)));
    const winners = racers.filter((_, racer) => outcomes[racer] === 204);
    expect(winners).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "order_already_cancelled")).toHaveLength(49);
    expect(await order(table, 1n)).toMatchObject({
      status: { S: "cancelled" },
      cancellationId: { S: winners[0] },
    });
  });

  /** Cancels an order that is this before, as `invocation-1`. */
  async function cancelOne(what: string, before: object | undefined) {
    const table = await createOrdersTable(what.replaceAll(/\W+/g, "-"));
    const item = before && { id: { N: "1" }, ...before };
    if (item) await put(table, item);
    const outcome = await cancel(table, 1n, "invocation-1");
    return { item, outcome, after: await order(table, 1n) };
  }

  test.each(cancellations)(
    "lets the cancellation of %s (%j) end in %s",
    async (what, before, outcome) => {
      expect(await cancelOne(what, before)).toMatchObject({ outcome });
    },
  );

  test.each(cancellations.filter(([, , outcome]) => outcome === 204))(
    "marks %s (%j) as cancelled by its invocation",
    async (what, before) => {
      const { item, after } = await cancelOne(`${what} marked`, before);
      const cancelled = { status: { S: "cancelled" }, cancellationId: { S: "invocation-1" } };
      expect(after).toMatchObject({ ...item, ...cancelled });
    },
  );

  test.each(cancellations.filter(([, , outcome]) => outcome !== 204))(
    "changes nothing of %s (%j) for an Error",
    async (what, before) => {
      const { item, after } = await cancelOne(`${what} unchanged`, before);
      expect(after).toEqual(item);
    },
  );

  test("says internal_error for a table that does not exist", async () => {
    expect(await cancel("no-such-table", 1n, "one")).toBe("internal_error");
  });
});
