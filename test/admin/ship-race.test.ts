import { expect, test } from "vitest";
import { shipOrder } from "../../infra/admin/ship-orders.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import type { Target } from "../../infra/admin/target.ts";
import { ServiceError } from "../../shared/errors.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { applied, unapplied } from "../helpers/faults/faults.ts";

const tables = await createTestTables();
const never = new AbortController().signal;
const ship = ({ client, ordersTable }: Target, id: bigint, date: string) =>
  shipOrder(ordersTable, id, date, new TableCalls(client), never);

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
