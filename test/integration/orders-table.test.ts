import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
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

const table = "orders";
const pages = "pages";
beforeAll(async () => {
  for (const name of [table, pages]) await createTable(client, "orders", name);
});

const put = (item: OrderItem, TableName = table) =>
  client.send(new PutItemCommand({ TableName, Item: item }));

async function readOrder(N: string): Promise<OrderItem | undefined> {
  const command = new GetItemCommand({
    TableName: table,
    Key: { id: { N } },
    ConsistentRead: true,
  });
  return (await client.send(command)).Item;
}

/** Cancels an order. @returns 204 or the error code. */
async function cancel(orderId: bigint, cancellationId: string, ordersTable = table) {
  const cancellation = {
    orderId,
    cancelledBy: "key_1",
    cancelledAt: new Date(),
    cancellationId,
  };
  try {
    await cancelOrder(service, ordersTable, cancellation);
    return 204;
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
}

/** The JSON of every order, for each page. */
async function listPages(ordersTable: string): Promise<string[][]> {
  const read = await Array.fromAsync(scanOrders(service, ordersTable));
  return read.map((page) => page.map((item) => orderJson(item, {})));
}

describe("the orders table on a real engine", () => {
  test("lists any int64 digit for digit, and cancels the order with this id once", async () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const extremes = [-(2n ** 63n), 2n ** 63n - 1n, 0n, -1n, 2n ** 53n + 1n];
    await fc.assert(
      fc.asyncProperty(int64, int64, async (id, petId) => {
        const order = { id: { N: String(id) }, petId: { N: String(petId) } };
        await put({ ...order, status: { S: "pending" } });
        expect((await listPages(table)).flat()).toContain(`{"id":${id},"petId":${petId}}`);
        expect(await cancel(id, "one")).toBe(204);
        expect(await cancel(id, "two")).toBe("order_already_cancelled");
      }),
      { examples: extremes.map((id): [bigint, bigint] => [id, -id - 1n]), numRuns: 30 },
    );
  });

  test("lists every order of several pages once", async () => {
    // Two of them fit into a page of 1 MB; DynamoDB Local adds a third.
    const padding = { S: "x".repeat(380_000) };
    const ids = Array.from({ length: 9 }, (_, id) => String(id));
    for (const N of ids) await put({ id: { N }, petId: { N: "1" }, padding }, pages);
    const listed = await listPages(pages);
    expect(listed.length).toBeGreaterThan(2);
    expect(listed.flat().sort()).toEqual(ids.map((id) => `{"id":${id},"petId":1}`));
  });

  test("lets exactly one of fifty racing cancellations win, and records it", async () => {
    await put({ id: { N: "1" }, status: { S: "pending" } });
    const racers = Array.from({ length: 50 }, (_, number) => `racer-${number}`);
    const outcomes = await Promise.all(racers.map((racer) => cancel(1n, racer)));
    expect(outcomes.filter((outcome) => outcome !== 204)).toEqual(
      Array(49).fill("order_already_cancelled"),
    );
    expect(await readOrder("1")).toMatchObject({
      status: { S: "cancelled" },
      cancellationId: { S: racers[outcomes.indexOf(204)] },
    });
  });

  test.each(cancellations)(
    "ends the cancellation of %s (%j) in %s, and changes nothing else",
    async (what, before, outcome) => {
      const id = `${100 + cancellations.findIndex(([other]) => other === what)}`;
      const item = before && { id: { N: id }, ...before };
      if (item) await put(item);
      expect(await cancel(BigInt(id), "invocation-1")).toBe(outcome);
      const cancelled = {
        status: { S: "cancelled" },
        cancellationId: { S: "invocation-1" },
      };
      const after = await readOrder(id);
      if (outcome === 204) expect(after).toMatchObject({ ...item, ...cancelled });
      else expect(after).toEqual(item);
    },
  );

  test("fails with internal_error when it does not exist", async () => {
    expect(await cancel(1n, "one", "no-such-table")).toBe("internal_error");
  });
});
