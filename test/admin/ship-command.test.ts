import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, test, vi } from "vitest";
import { shipOrders } from "../../infra/admin/ship-orders.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import { systemClock } from "../../shared/clock.ts";
import type { OrderItem } from "../../shared/order.ts";
import { createOperator } from "../helpers/admin/admin-process.ts";
import { runHere } from "../helpers/admin/command-here.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
const pending = (id: bigint): OrderItem => ({ id: { N: String(id) }, status: { S: "pending" } });

test("an order whose shipping is interrupted while the table throttles was not tried", async () => {
  const operator = new AbortController();
  const client = new DynamoDBClient();
  mockClient(client)
    .on(UpdateItemCommand)
    .callsFake(() => {
      operator.abort();
      throw Object.assign(new Error("Slow down"), { name: "ThrottlingException" });
    });
  const calls = new TableCalls(client, undefined, {
    ...systemClock,
    pause: async (_milliseconds, signal) => signal?.throwIfAborted(),
  });
  const print = vi.fn();
  await expect(
    shipOrders("Orders", new Set([1n]), "2026-11-20T00:00:00Z", calls, print, operator.signal),
  ).rejects.toThrow("Interrupted. 1 order not tried");
  expect(print).not.toHaveBeenCalled();
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
