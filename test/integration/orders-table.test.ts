import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import type { OrderItem } from "../../shared/order.ts";
import { orderJson } from "../../shared/order-json.ts";
import { bundled } from "../helpers/bundled/bundled.ts";
import { cancellations } from "../helpers/cancellations.ts";
import { createTable } from "../helpers/create-table.ts";
import { useExternalEngine } from "../helpers/external-engine.ts";

const engine = (await useExternalEngine()) ?? (await startEngine());
const client = engineClient(engine.endpoint);
const { callLimits, cancelOrder, createClient, scanOrders, ServiceError } = bundled;
vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", engine.endpoint);
/** The client in the functions' bundles. */
const service = createClient(callLimits.list);
afterAll(async () => {
  client.destroy();
  service.destroy();
  await engine.stop();
});

async function createOrdersTable(name: string): Promise<string> {
  await createTable(client, "orders", name);
  return name;
}

const put = (table: string, item: OrderItem) =>
  client.send(new PutItemCommand({ TableName: table, Item: item }));

async function readOrder(table: string, id: bigint): Promise<OrderItem | undefined> {
  const key = { id: { N: String(id) } };
  const command = new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true });
  const { Item } = await client.send(command);
  return Item;
}

/** Cancels an order; the outcome is 204 or the error code. */
async function cancel(
  table: string,
  orderId: bigint,
  cancellationId: string,
): Promise<204 | string> {
  try {
    await cancelOrder(service, table, {
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

/** The JSON of every order. */
async function listOrders(table: string): Promise<string[]> {
  const orders: string[] = [];
  for await (const page of scanOrders(service, table))
    orders.push(...page.map((item) => orderJson(item, {})));
  return orders;
}

describe("the orders table on a real engine", () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const extremes = [-(2n ** 63n), 2n ** 63n - 1n, 0n, -1n, 2n ** 53n + 1n];

  test("lists any int64 digit for digit, and cancels the order with it for an id once", async () => {
    const table = await createOrdersTable("int64");
    await fc.assert(
      fc.asyncProperty(int64, int64, async (id, petId) => {
        const order = { id: { N: String(id) }, petId: { N: String(petId) } };
        await put(table, { ...order, status: { S: "pending" } });
        expect(await listOrders(table)).toContain(`{"id":${id},"petId":${petId}}`);
        expect(await cancel(table, id, "one")).toBe(204);
        expect(await cancel(table, id, "two")).toBe("order_already_cancelled");
      }),
      { examples: extremes.map((id): [bigint, bigint] => [id, -id - 1n]), numRuns: 30 },
    );
  });

  test("lists every order of several pages once", async () => {
    const table = await createOrdersTable("pages");
    // Two of them fit into a page of 1 MB; DynamoDB Local adds a third.
    const padding = { S: "x".repeat(380_000) };
    const ids = Array.from({ length: 9 }, (_, id) => String(id));
    for (const N of ids) await put(table, { id: { N }, petId: { N: "1" }, padding });
    expect((await Array.fromAsync(scanOrders(service, table))).length).toBeGreaterThan(2);
    expect((await listOrders(table)).sort()).toEqual(ids.map((id) => `{"id":${id},"petId":1}`));
  });

  test("lets exactly one of fifty racing cancellations win, and records it", async () => {
    const table = await createOrdersTable("racing-cancels");
    await put(table, { id: { N: "1" }, status: { S: "pending" } });
    const racers = Array.from({ length: 50 }, (_, number) => `racer-${number}`);
    const outcomes = await Promise.all(racers.map((racer) => cancel(table, 1n, racer)));
    expect(outcomes.filter((outcome) => outcome !== 204)).toEqual(
      Array(49).fill("order_already_cancelled"),
    );
    expect(await readOrder(table, 1n)).toMatchObject({
      status: { S: "cancelled" },
      cancellationId: { S: racers[outcomes.indexOf(204)] },
    });
  });

  test.each(cancellations)(
    "ends the cancellation of %s (%j) in %s, and changes nothing else",
    async (what, before, outcome) => {
      const table = await createOrdersTable(what.replaceAll(/\W+/g, "-"));
      const item = before && { id: { N: "1" }, ...before };
      if (item) await put(table, item);
      expect(await cancel(table, 1n, "invocation-1")).toBe(outcome);
      const cancelled = { status: { S: "cancelled" }, cancellationId: { S: "invocation-1" } };
      const after = await readOrder(table, 1n);
      if (outcome === 204) expect(after).toMatchObject({ ...item, ...cancelled });
      else expect(after).toEqual(item);
    },
  );

  test("fails with internal_error when it does not exist", async () => {
    expect(await cancel("no-such-table", 1n, "one")).toBe("internal_error");
  });
});
