import { describe, expect, test } from "vitest";
import { type Shipment, shipOrder, shipOrders } from "../../infra/admin/ship-orders.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import type { Target } from "../../infra/admin/target.ts";
import type { OrderItem } from "../../shared/order.ts";
import { createOperator } from "../helpers/admin/admin-process.ts";
import { runHere } from "../helpers/admin/command-here.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import type { Behaviour } from "../helpers/faults/fault-proxy.ts";
import { applied, rejectedAs, unapplied } from "../helpers/faults/faults.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
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

  test("is told as unknown when every response is lost, and others go on", async () => {
    await tables.putOrder(pending(1n));
    await tables.putOrder(pending(2n));
    const { target } = await tables.behindProxy(({ operation, input }) =>
      operation === "UpdateItem" && input.includes('"N":"1"') ? applied["500 after the engine"] : undefined,
    );
    const { code, printed } = await shipAll([1n, 2n], target);
    expect(code).toBe(7);
    const reason = expect.stringContaining("Unexpected error");
    expect(printed.get(1n)?.shipment).toMatchObject({ outcome: "unknown", reason });
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

test("an order whose shipping is interrupted while it waits was not tried", async () => {
  const calls = new TableCalls(tables.client, 1);
  await calls.make(async () => ({ ConsumedCapacity: { CapacityUnits: 3 } }), 0);
  await expect(shipOrder(tables.tables.orders, 1n, noon, calls, AbortSignal.abort())).rejects.toThrow("aborted");
});

describe("orders ship", () => {
  test("takes ids from standard input and prints a line of JSON for each", async () => {
    await operator.pointTo(tables);
    await tables.putOrder(pending(-1n));
    await tables.putOrder({ id: { N: "9007199254740993" }, status: { S: "held\u001b" } });
    const input = "-1\r\n\n 9007199254740993 \n-1\n";
    const begun = Date.now();
    const { code, stdout, stderr } = await operator.run(["orders", "ship", "--local", "--json"], { input });
    expect({ code, stderr }).toEqual({ code: 6, stderr: "" });
    const [shipped = "", other, ...more] = stdout.split("\n").sort().slice(1);
    expect(more).toEqual([]);
    expect(other).toBe(String.raw`{"id":9007199254740993,"outcome":"not_pending","status":"held\u001b"}`);
    const { shipDate, ...rest } = JSON.parse(shipped);
    expect(rest).toEqual({ id: -1, outcome: "shipped" });
    expect(shipDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Date.parse(shipDate)).toBeGreaterThanOrEqual(begun - 1000);
    expect(Date.parse(shipDate)).toBeLessThanOrEqual(Date.now() + 1000);
  });

  test("takes ids from a file, and a date, and ships nothing when a line is not an id", async () => {
    await tables.putOrder(pending(7n));
    const file = await operator.write("ids.txt", "7\n\n8.0\n");
    const shipping = () => runHere(tables, ["orders", "ship", "--file", file, "--date", "2026-11-20"]);
    expect(await shipping()).toEqual({
      code: 1,
      stdout: "",
      stderr: `${file}:3: not a 64-bit integer: nothing has shipped\n`,
    });
    await operator.write("ids.txt", "\n");
    expect(await shipping()).toEqual({ code: 0, stdout: "", stderr: "No order ids were given\n" });
    await operator.write("ids.txt", "\ufeff7\n");
    expect(await shipping()).toEqual({
      code: 0,
      stdout: "Order 7 has shipped: 2026-11-20T00:00:00Z\n",
      stderr: "",
    });
  });
});
