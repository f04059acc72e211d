import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import type { Target } from "../../infra/admin/target.ts";
import { writeOrders } from "../../infra/admin/write-orders.ts";
import { type Clock, systemClock } from "../../shared/clock.ts";
import type { OrderItem } from "../../shared/order.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { unapplied } from "../helpers/faults/faults.ts";

const tables = await createTestTables();

/** The tables behind a proxy that throttles this many calls, for a client that tries each call once. */
async function throttledTarget(calls: number): Promise<Target> {
  let made = 0;
  const { target, proxy } = await tables.behindProxy(() =>
    ++made <= calls ? unapplied["throttled by the table"] : undefined,
  );
  const { region, credentials } = target.client.config;
  const client = new DynamoDBClient({ endpoint: proxy.endpoint, region, credentials, maxAttempts: 1 });
  onTestFinished(() => client.destroy());
  return { ...target, client };
}

async function* pendingOrders(count: number): AsyncGenerator<OrderItem, void, void> {
  for (let id = 1; id <= count; id++) yield { id: { N: String(id) }, status: { S: "pending" } };
}

/** Writes orders by calls whose waits take no time, and records what is waited for and reported. */
async function write({ client, ordersTable }: Target, orders: AsyncIterable<OrderItem>, calls?: TableCalls) {
  const recorded: { waits: number[]; done: number[] } = { waits: [], done: [] };
  const pause: Clock["pause"] = async (milliseconds) => void recorded.waits.push(milliseconds);
  const impatient = new TableCalls(client, undefined, { ...systemClock, pause });
  const { signal } = new AbortController();
  const onOrder = (done: number) => void recorded.done.push(done);
  const result = await writeOrders(ordersTable, orders, calls ?? impatient, false, signal, onOrder);
  return { result, ...recorded };
}

describe("writing orders", () => {
  test("reports each one as it is done", async () => {
    const { result, done, waits } = await write(tables.target, pendingOrders(100));
    expect(result).toMatchObject({ written: 100, alreadyThere: 0 });
    expect(done).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
    expect(waits).toEqual([]);
    expect(await tables.items("orders")).toHaveLength(100);
  });

  test("waits and tries again when throttled, each time for longer", async () => {
    const { result, waits } = await write(await throttledTarget(4), pendingOrders(1));
    expect(result).toMatchObject({ written: 1, alreadyThere: 0 });
    expect(waits).toHaveLength(4);
    for (const [at, longest] of [200, 500, 1000, 2000].entries()) {
      expect(waits[at]).toBeGreaterThan(0);
      expect(waits[at]).toBeLessThanOrEqual(longest);
    }
  });

  test("waits by the real clock unless told otherwise", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], fakeNodeBuiltins: true });
    const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
    const client = new DynamoDBClient({});
    onTestFinished(() => {
      random.mockRestore();
      vi.useRealTimers();
      client.destroy();
    });
    const throttled = Object.assign(new Error("throttled"), { name: "ThrottlingException" });
    const puts = mockClient(client).on(PutItemCommand).rejectsOnce(throttled).resolves({ ConsumedCapacity: {} });
    const written = write(tables.target, pendingOrders(1), new TableCalls(client));
    await vi.advanceTimersByTimeAsync(99);
    expect(puts.calls()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect((await written).result).toMatchObject({ written: 1, alreadyThere: 0 });
    expect(puts.calls()).toHaveLength(2);
  });

  test("gives up on a table that never stops throttling, after a minute or so", async () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
    onTestFinished(() => random.mockRestore());
    const { result, waits } = await write(await throttledTarget(Number.POSITIVE_INFINITY), pendingOrders(1));
    expect(result).toMatchObject({ written: 0, alreadyThere: 0 });
    expect(result.reason).toContain("ProvisionedThroughputExceededException");
    expect(waits).toEqual([100, 250, 500, 1000, 2500, 5000, 10_000, 15_000, 15_000, 15_000]);
  });

  test.each([false, true])("waits for a throttled table only until it is interrupted (check: %s)", async (check) => {
    const { client, ordersTable } = await throttledTarget(Number.POSITIVE_INFINITY);
    const operator = new AbortController();
    const pause = vi.fn(async (_milliseconds: number, signal?: AbortSignal) => {
      operator.abort();
      signal?.throwIfAborted();
    });
    const calls = new TableCalls(client, undefined, { ...systemClock, pause });
    const result = await writeOrders(ordersTable, pendingOrders(1), calls, check, operator.signal, () => {});
    expect(result).toMatchObject({ reason: "Interrupted", written: 0, alreadyThere: 0 });
    expect(pause).toHaveBeenCalledTimes(1);
  });

  test("stops at the first order that can't be read, and keeps what was written", async () => {
    const broken = async function* (): AsyncGenerator<OrderItem, void, void> {
      yield* pendingOrders(3);
      throw new Error("line 4 is not what was checked");
    };
    const { result } = await write(tables.target, broken());
    expect(result).toMatchObject({ written: 3, reason: expect.stringContaining("line 4 is not what was checked") });
  });
});
