import { describe, expect, test } from "vitest";
import { type Shipment, shipOrder, shipOrders } from "../../infra/admin/ship-orders.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import type { Target } from "../../infra/admin/target.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import type { Behaviour } from "../helpers/faults/fault-proxy.ts";
import { applied, rejectedAs, unapplied, unnoticed } from "../helpers/faults/faults.ts";

const tables = await createTestTables();
const never = new AbortController().signal;
const noon = "2026-11-20T12:00:00.000001Z";
const ship = ({ client, ordersTable }: Target, id: bigint, date = noon) =>
  shipOrder(ordersTable, id, date, new TableCalls(client), never);
const pending = (id: bigint): OrderItem => ({ id: { N: String(id) }, status: { S: "pending" } });

/** The tables behind a proxy where attempts to ship meet these faults, one after the other. */
async function targetWith(...faults: (Behaviour | undefined)[]) {
  return tables.behindProxy(({ operation }) => (operation === "UpdateItem" ? faults.shift() : undefined));
}

/** Ships these orders at once; gives what is printed, by id, and the exit code. */
async function shipAll(ids: bigint[], { client, ordersTable } = tables.target) {
  const printed = new Map<bigint, { text: string; shipment: Shipment }>();
  const print = (shipment: Shipment, text: string) => void printed.set(shipment.id, { text, shipment });
  const code = await shipOrders(ordersTable, new Set(ids), noon, new TableCalls(client), print, never);
  return { code, printed };
}

describe("shipping an order", () => {
  test("says so in the fields that clients see, in one write, and keeps everything else", async () => {
    const before = { ...pending(1n), quantity: { N: "3" }, complete: { BOOL: false }, colour: { S: "red" } };
    await tables.putOrder({ ...before, shipDate: { S: "2026-12-24T00:00:00Z" } });
    const { target, proxy } = await targetWith();
    expect(await ship(target, 1n)).toEqual({ id: 1n, outcome: "shipped", shipDate: noon });
    expect(proxy.attempts).toEqual(new Map([["UpdateItem", 1]]));
    expect(await tables.items("orders")).toEqual([
      { ...before, status: { S: "shipped" }, complete: { BOOL: true }, shipDate: { S: noon } },
    ]);
  });

  test.each<[string, OrderItem | undefined, Omit<Shipment, "id">, string, number]>([
    ["is pending", pending(1n), { outcome: "shipped", shipDate: noon }, `Order 1 has shipped: ${noon}`, 0],
    [
      "has shipped",
      { id: { N: "1" }, status: { S: "shipped" }, shipDate: { S: "2026-11-01T00:00:00Z" } },
      { outcome: "already_shipped", shipDate: "2026-11-01T00:00:00Z" },
      "Order 1 had already shipped: 2026-11-01T00:00:00Z",
      3,
    ],
    [
      "has shipped, no one knows when",
      { id: { N: "1" }, status: { S: "shipped" } },
      { outcome: "already_shipped" },
      "Order 1 had already shipped",
      3,
    ],
    [
      "has shipped on the same date",
      { id: { N: "1" }, status: { S: "shipped" }, shipDate: { S: noon } },
      { outcome: "already_shipped", shipDate: noon },
      `Order 1 had already shipped: ${noon}`,
      3,
    ],
    [
      "was cancelled",
      { id: { N: "1" }, status: { S: "cancelled" } },
      { outcome: "cancelled" },
      "Order 1 is cancelled and can't ship",
      4,
    ],
    ["does not exist", undefined, { outcome: "not_found" }, "Order 1 does not exist", 5],
    [
      "has another status",
      { id: { N: "1" }, status: { S: "held" } },
      { outcome: "not_pending", status: "held" },
      "Order 1 is not pending and can't ship: held",
      6,
    ],
    ["has no status", { id: { N: "1" } }, { outcome: "not_pending" }, "Order 1 is not pending and can't ship", 6],
  ])("that %s is told apart", async (_, order, shipment, text, code) => {
    if (order) await tables.putOrder(order);
    const shipping = await shipAll([1n]);
    expect(shipping).toEqual({ code, printed: new Map([[1n, { text, shipment: { id: 1n, ...shipment } }]]) });
    if (code > 0) expect(await tables.items("orders")).toEqual(order ? [order] : []);
  });

  test("is told as shipped when only the response is lost", async () => {
    await tables.putOrder(pending(1n));
    const { target, proxy } = await targetWith(applied["reset after the engine"]);
    expect(await ship(target, 1n)).toMatchObject({ outcome: "shipped" });
    expect(proxy.attempts.get("UpdateItem")).toBe(2);
  });

  test("is not told as shipped when another shipped it before a later attempt", async () => {
    await tables.putOrder(pending(1n));
    const { target } = await targetWith(async (exchange) => {
      await ship(tables.target, 1n, "2026-11-20T12:00:00.000002Z");
      unapplied["500 of the service"](exchange);
    });
    expect(await ship(target, 1n)).toMatchObject({ outcome: "already_shipped" });
  });

  test.each([
    ["every response is lost", Array.from({ length: 9 }, () => applied["500 after the engine"]), "Unexpected error"],
    [
      "every response is empty",
      Array.from({ length: 9 }, () => unnoticed["an empty response of no length"]),
      "empty or not JSON",
    ],
  ])("is told as unknown when %s, and others go on", async (_, faults, reason) => {
    await tables.putOrder(pending(1n));
    await tables.putOrder(pending(2n));
    const { target } = await tables.behindProxy(({ operation, input }) =>
      operation === "UpdateItem" && input.includes('"N":"1"') ? faults.shift() : undefined,
    );
    const { code, printed } = await shipAll([1n, 2n], target);
    expect(code).toBe(7);
    expect(printed.get(1n)?.shipment).toMatchObject({ outcome: "unknown", reason: expect.stringContaining(reason) });
    expect(printed.get(1n)?.text).toContain("Order 1 may have shipped or not: ");
    expect(printed.get(2n)?.shipment.outcome).toBe("shipped");
  });
});

describe("shipping many orders", () => {
  test("ships many at a time, and has the exit code of the worst outcome", async () => {
    const ids = Array.from({ length: 100 }, (_, at) => BigInt(at));
    await Promise.all(ids.slice(1).map((id) => tables.putOrder(pending(id))));
    await tables.putOrder({ id: { N: "99" }, status: { S: "cancelled" } });
    const { code, printed } = await shipAll(ids);
    expect(code).toBe(5);
    const outcomes = Object.groupBy(printed.values(), ({ shipment }) => shipment.outcome);
    expect([outcomes.shipped?.length, outcomes.cancelled?.length, outcomes.not_found?.length]).toEqual([98, 1, 1]);
    // Now the worst comes last.
    expect((await shipAll(ids.toReversed())).code).toBe(5);
  });

  test("stops at a failure that is not about one order, and says how many are left", async () => {
    let writes = 0;
    const { target } = await tables.behindProxy(() =>
      ++writes > 60 ? rejectedAs("AccessDeniedException", "not authorized") : undefined,
    );
    const ids = Array.from({ length: 100 }, (_, at) => BigInt(at));
    await expect(shipAll(ids, target)).rejects.toThrow("AWS denied access: not authorized. 40 orders not tried");
  });
});

test("shipping and cancelling has one winner, and everyone is told the truth, whatever responses are lost", async () => {
  const fates = [undefined, applied["reset after the engine"], unapplied["500 of the service"]];
  /** A contender for each order, whose first attempts meet different fates. */
  const contender = (position: number) =>
    tables.behindProxy(({ input, attempt }) => {
      const id = Number(/"id":{"N":"(\d+)"}/.exec(input)?.[1]);
      return attempt === 1 ? fates[Math.floor(id / 3 ** position) % 3] : undefined;
    });
  const [first, second, third] = [await contender(0), await contender(1), await contender(2)];
  const dates = ["2026-11-20T12:00:00.000001Z", "2026-11-20T12:00:00.000002Z"] as const;
  const told = new Map<string, string>();
  const contend = async (id: bigint): Promise<void> => {
    await tables.putOrder({ id: { N: String(id) }, status: { S: "pending" } });
    const cancellation = { orderId: id, cancelledBy: "key_1", cancelledAt: new Date(), cancellationId: String(id) };
    const outcomes = await Promise.all([
      ship(first.target, id, dates[0]),
      ship(second.target, id, dates[1]),
      cancelOrder(third.target.client, third.target.ordersTable, cancellation).then(
        () => ({ outcome: "won" }),
        (error: unknown) => ({ outcome: error instanceof ServiceError ? error.code : error }),
      ),
    ]);
    told.set(String(id), outcomes.map(({ outcome }) => outcome).join(", "));
  };
  await Promise.all(Array.from({ length: 50 }, (_, at) => contend(BigInt(at))));
  const truth: Record<string, string> = {
    [dates[0]]: "shipped, already_shipped, order_already_shipped",
    [dates[1]]: "already_shipped, shipped, order_already_shipped",
    cancelled: "cancelled, cancelled, won",
  };
  const orders = await tables.items("orders");
  expect(orders).toHaveLength(50);
  for (const { id, status, shipDate } of orders) {
    expect([id?.N, told.get(id?.N ?? "")]).toEqual([id?.N, truth[shipDate?.S ?? status?.S ?? ""]]);
  }
});
