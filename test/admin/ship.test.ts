import { describe, expect, test } from "vitest";
import { shipOrder } from "../../infra/admin/ship-orders.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import type { OrderItem } from "../../shared/order.ts";
import { applied, rejectedAs, unapplied } from "../helpers/faults/faults.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOperator } from "./admin-process.ts";
import { runHere } from "./command-here.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
const noon = "2026-11-20T12:00:00.000001Z";
const pending = (id: number): OrderItem => ({ id: { N: String(id) }, status: { S: "pending" } });

/**
 * Ships these orders with --json, through this endpoint; gives the exit code and what is said of
 * each order, by its id.
 */
async function ship(ids: number[], dynamodbEndpoint = tables.dynamodbEndpoint) {
  const args = ["orders", "ship", ...ids.map(String), "--date", noon, "--json"];
  const { code, stdout, stderr } = await runHere({ ...tables, dynamodbEndpoint }, args);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return {
    code,
    stderr,
    shipments: new Map(lines.map((line) => [JSON.parse(line).id, JSON.parse(line)])),
  };
}

describe("shipping an order", () => {
  test("says so in the fields that clients see, in one write, and keeps everything else", async () => {
    const before = {
      ...pending(1),
      quantity: { N: "3" },
      complete: { BOOL: false },
      colour: { S: "red" },
    };
    await tables.putOrder({ ...before, shipDate: { S: "2026-12-24T00:00:00Z" } });
    const { proxy } = await tables.behindProxy(() => undefined);
    const { code, shipments } = await ship([1], proxy.endpoint);
    expect(code).toBe(0);
    expect(shipments.get(1)).toEqual({ id: 1, outcome: "shipped", shipDate: noon });
    expect(proxy.attempts.get("UpdateItem")).toBe(1);
    expect(await tables.items("orders")).toEqual([
      { ...before, status: { S: "shipped" }, complete: { BOOL: true }, shipDate: { S: noon } },
    ]);
  });

  test.each<[string, OrderItem | undefined, object, string, number]>([
    [
      "has shipped",
      { id: { N: "1" }, status: { S: "shipped" }, shipDate: { S: "2026-11-01T00:00:00Z" } },
      { outcome: "already_shipped", shipDate: "2026-11-01T00:00:00Z" },
      "Order 1 had already shipped: 2026-11-01T00:00:00Z",
      3,
    ],
    [
      "has shipped on the same date",
      { id: { N: "1" }, status: { S: "shipped" }, shipDate: { S: noon }, complete: { BOOL: true } },
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
    [
      "has no status",
      { id: { N: "1" } },
      { outcome: "not_pending" },
      "Order 1 is not pending and can't ship",
      6,
    ],
  ])("that %s changes nothing, and is told apart", async (_, order, shipment, text, code) => {
    if (order) await tables.putOrder(order);
    const told = await runHere(tables, ["orders", "ship", "1", "--date", noon]);
    expect(told).toEqual({ code, stdout: `${text}\n`, stderr: "" });
    expect(await ship([1])).toEqual({
      code,
      stderr: "",
      shipments: new Map([[1, { id: 1, ...shipment }]]),
    });
    expect(await tables.items("orders")).toEqual(order ? [order] : []);
  });

  test("is told as shipped when only the response is lost", async () => {
    await tables.putOrder(pending(1));
    const { proxy } = await tables.behindProxy(({ attempt, operation }) =>
      operation === "UpdateItem" && attempt === 1 ? applied["reset after the engine"] : undefined,
    );
    expect((await ship([1], proxy.endpoint)).shipments.get(1)).toMatchObject({
      outcome: "shipped",
    });
    expect(proxy.attempts.get("UpdateItem")).toBe(2);
  });

  test("is not told as shipped when another shipped it before a later attempt", async () => {
    const theirs = {
      id: { N: "1" },
      status: { S: "shipped" },
      shipDate: { S: "2026-11-20T12:00:00.000002Z" },
    };
    const { proxy } = await tables.behindProxy(({ attempt, operation }) =>
      operation === "UpdateItem" && attempt === 1
        ? async (exchange) => {
            await tables.putOrder(theirs);
            unapplied["500 of the service"](exchange);
          }
        : undefined,
    );
    expect((await ship([1], proxy.endpoint)).shipments.get(1)).toMatchObject({
      outcome: "already_shipped",
    });
  });

  test("is told as unknown when every response is lost, and others go on", async () => {
    await tables.putOrder(pending(1));
    await tables.putOrder(pending(2));
    const { proxy } = await tables.behindProxy(({ operation, input }) =>
      operation === "UpdateItem" && input.includes('"N":"1"')
        ? applied["500 after the engine"]
        : undefined,
    );
    const { code, shipments } = await ship([1, 2], proxy.endpoint);
    expect(code).toBe(7);
    const reason = expect.stringContaining("Unexpected error");
    expect(shipments.get(1)).toEqual({ id: 1, outcome: "unknown", reason });
    expect(shipments.get(2)).toMatchObject({ outcome: "shipped" });
  });

  test("is not tried when it is interrupted while it waits", async () => {
    const calls = new TableCalls(tables.client, 1);
    await calls.make(async () => ({ ConsumedCapacity: { CapacityUnits: 3 } }), 0);
    await expect(
      shipOrder(tables.tables.orders, 1n, noon, calls, AbortSignal.abort()),
    ).rejects.toThrow("aborted");
  });
});

describe("shipping many orders", () => {
  test("ships many at a time, and has the exit code of the worst outcome", async () => {
    const ids = Array.from({ length: 100 }, (_, at) => at);
    await Promise.all(ids.slice(1).map((id) => tables.putOrder(pending(id))));
    await tables.putOrder({ id: { N: "99" }, status: { S: "cancelled" } });
    const { code, shipments } = await ship(ids);
    expect(code).toBe(5);
    const outcomes = [...shipments.values()].map(({ outcome }) => outcome).sort();
    expect(outcomes).toEqual(["cancelled", "not_found", ...Array(98).fill("shipped")]);
    // Now the worst comes last.
    expect((await ship(ids.toReversed())).code).toBe(5);
  });

  test("stops at a failure that is not about one order, and says how many are left", async () => {
    let writes = 0;
    const { proxy } = await tables.behindProxy(({ operation }) =>
      operation === "UpdateItem" && ++writes > 60
        ? rejectedAs("AccessDeniedException", "not authorized")
        : undefined,
    );
    const ids = Array.from({ length: 100 }, (_, at) => at);
    const stderr = "AWS denied access: not authorized. 40 orders not tried\n";
    expect(await ship(ids, proxy.endpoint)).toMatchObject({ code: 1, stderr });
  });
});

describe("orders ship", () => {
  test("takes ids from standard input and prints a line of JSON for each", async () => {
    await operator.pointTo(tables);
    await tables.putOrder(pending(-1));
    await tables.putOrder({ id: { N: "9007199254740993" }, status: { S: "held\u001b" } });
    const input = "-1\r\n\n 9007199254740993 \n-1\n";
    const begun = Date.now();
    const { code, stdout, stderr } = await operator.run(["orders", "ship", "--local", "--json"], {
      input,
    });
    expect({ code, stderr }).toEqual({ code: 6, stderr: "" });
    const [shipped = "", other, ...more] = stdout.split("\n").sort().slice(1);
    expect(more).toEqual([]);
    expect(other).toBe(
      String.raw`{"id":9007199254740993,"outcome":"not_pending","status":"held\u001b"}`,
    );
    const { shipDate, ...rest } = JSON.parse(shipped);
    expect(rest).toEqual({ id: -1, outcome: "shipped" });
    expect(shipDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Date.parse(shipDate)).toBeGreaterThanOrEqual(begun - 1000);
    expect(Date.parse(shipDate)).toBeLessThanOrEqual(Date.now() + 1000);
  });

  test("takes ids from a file, and a date, and ships nothing when a line is not an id", async () => {
    await tables.putOrder(pending(7));
    const file = await operator.write("ids.txt", "7\n\n08\n");
    const shipping = () =>
      runHere(tables, ["orders", "ship", "--file", file, "--date", "2026-11-20"]);
    expect(await shipping()).toEqual({
      code: 1,
      stdout: "",
      stderr: `${file}:3: not a 64-bit integer: nothing has shipped\n`,
    });
    await operator.write("ids.txt", "\n");
    expect(await shipping()).toEqual({ code: 1, stdout: "", stderr: "No order ids were given\n" });
    await operator.write("ids.txt", "\ufeff7\n");
    expect(await shipping()).toEqual({
      code: 0,
      stdout: "Order 7 has shipped: 2026-11-20T00:00:00Z\n",
      stderr: "",
    });
  });
});
