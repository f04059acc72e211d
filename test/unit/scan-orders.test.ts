import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { scanOne, scanOrders } from "../../shared/orders-table.ts";

const table = mockClient(DynamoDBClient);
beforeEach(() => void table.reset());

const throttling = () => Object.assign(new Error("secret"), { name: "ThrottlingException" });
const page = (id: string, last = false) => ({
  Items: [{ id: { N: id } }],
  ...(!last && { LastEvaluatedKey: { id: { N: id } } }),
});

/** A clock that only pauses move; each takes this share of its longest. */
function clockWithPauses(share: number) {
  const random = vi.spyOn(Math, "random").mockReturnValue(share);
  onTestFinished(() => random.mockRestore());
  const pauses: number[] = [];
  const clock = {
    milliseconds: 1_000_000,
    pauses,
    now: () => clock.milliseconds,
    pause: async (milliseconds: number) => {
      pauses.push(milliseconds);
      clock.milliseconds += milliseconds;
    },
  };
  return clock;
}

describe("a page that the table throttles", () => {
  test("is tried for a minute, with pauses that grow from half a second to five, then fails", async () => {
    table.on(ScanCommand).rejects(throttling());
    const clock = clockWithPauses(1);
    const first = scanOrders(new DynamoDBClient({}), "orders", clock).next();
    await expect(first).rejects.toMatchObject({ code: "service_unavailable" });
    // The last one is cut to end with the minute.
    expect(clock.pauses).toEqual([500, 1000, 2000, 4000, ...Array.from({ length: 10 }, () => 5000), 2500]);
    expect(table.calls()).toHaveLength(clock.pauses.length + 1);
  });

  test("is tried after pauses of random length, so that lists that were throttled together come back apart", async () => {
    const clock = clockWithPauses(0.1);
    table.on(ScanCommand).rejectsOnce(throttling()).rejectsOnce(throttling()).resolvesOnce(page("1", true));
    expect(await Array.fromAsync(scanOrders(new DynamoDBClient({}), "orders", clock))).toHaveLength(1);
    expect(clock.pauses).toEqual([50, 100]);
  });

  test("has a minute of its own, however long the pages before it took, and starts with a short pause", async () => {
    const clock = clockWithPauses(1);
    const stub = table.on(ScanCommand);
    for (let tries = 0; tries < 14; tries += 1) stub.rejectsOnce(throttling());
    stub.resolvesOnce(page("1"));
    for (let tries = 0; tries < 14; tries += 1) stub.rejectsOnce(throttling());
    stub.resolvesOnce(page("2", true));
    expect(await Array.fromAsync(scanOrders(new DynamoDBClient({}), "orders", clock))).toHaveLength(2);
    expect(clock.pauses.slice(14)).toEqual(clock.pauses.slice(0, 14));
    expect(clock.milliseconds).toBe(1_000_000 + 2 * 57_500);
  });
});

test("each try at a page has 15 seconds of its own to arrive", async () => {
  const limits: AbortSignal[] = [];
  const limit = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => {
    limits.push(new AbortController().signal);
    return limits.at(-1) as AbortSignal;
  });
  onTestFinished(() => limit.mockRestore());
  table.on(ScanCommand).rejectsOnce(throttling()).resolvesOnce(page("1")).resolvesOnce(page("2", true));
  await Array.fromAsync(scanOrders(new DynamoDBClient({}), "orders", clockWithPauses(0)));
  expect(limit.mock.calls).toEqual([[15_000], [15_000], [15_000]]);
  const given = table.calls().map(({ args }) => (args.at(1) as unknown as { abortSignal: AbortSignal }).abortSignal);
  expect(given.map((signal) => limits.indexOf(signal))).toEqual([0, 1, 2]);
});

test("pauses by the real clock unless told otherwise", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"], fakeNodeBuiltins: true });
  const random = vi.spyOn(Math, "random").mockReturnValue(1);
  const now = vi.spyOn(performance, "now");
  onTestFinished(() => {
    for (const spy of [random, now]) spy.mockRestore();
    vi.useRealTimers();
  });
  table.on(ScanCommand).rejectsOnce(throttling()).rejectsOnce(throttling()).resolves(page("1", true));
  now.mockReturnValue(0);
  const failure = scanOrders(new DynamoDBClient({}), "orders")
    .next()
    .catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(499);
  expect(table.calls()).toHaveLength(1);
  now.mockReturnValue(60_000);
  await vi.runAllTimersAsync();
  expect(await failure).toMatchObject({ code: "service_unavailable" });
  expect(table.calls()).toHaveLength(2);
});

test("the call that makes a function ready reads one order at most", async () => {
  table.on(ScanCommand).resolves({ Items: [] });
  await scanOne(new DynamoDBClient({}), "orders", new AbortController().signal);
  expect(table.commandCalls(ScanCommand).map(({ args }) => args[0].input)).toEqual([{ TableName: "orders", Limit: 1 }]);
});
