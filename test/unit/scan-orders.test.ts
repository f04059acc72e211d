import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { scanOne, scanOrders } from "../../shared/orders-table.ts";

const table = mockClient(DynamoDBClient);
beforeEach(() => void table.reset());

const client = new DynamoDBClient({});
const throttling = () => Object.assign(new Error("secret"), { name: "ThrottlingException" });
const page = (id: string, last = false) => ({
  Items: [{ id: { N: id } }],
  ...(!last && { LastEvaluatedKey: { id: { N: id } } }),
});

/** Time that passes when a test says so, with pauses of this share of their longest. */
function fakeTime(share: number): void {
  vi.useFakeTimers({
    toFake: ["setTimeout", "setInterval", "performance"],
    fakeNodeBuiltins: true,
  });
  const random = vi.spyOn(Math, "random").mockReturnValue(share);
  onTestFinished(() => {
    random.mockRestore();
    vi.useRealTimers();
  });
}

/** Scans a table that responds to each attempt with the next of these, and repeats the last. */
async function scan(...responses: (Error | ReturnType<typeof page>)[]) {
  const attempts: number[] = [];
  table.on(ScanCommand).callsFake(async () => {
    const response = responses[Math.min(attempts.push(performance.now()), responses.length) - 1];
    if (response instanceof Error) throw response;
    return response;
  });
  const pages = Array.fromAsync(scanOrders(client, "orders")).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return {
    pages: await pages,
    pauses: attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0)),
  };
}

describe("a page that the table throttles", () => {
  // The last one is cut to end with the minute.
  const minute = [500, 1000, 2000, 4000, ...Array.from({ length: 10 }, () => 5000), 2500];

  test("is tried for a minute after pauses that grow from half a second to five", async () => {
    fakeTime(1);
    const { pauses } = await scan(throttling());
    expect(pauses).toEqual(minute);
  });

  test("fails after that minute as unavailable", async () => {
    fakeTime(1);
    const { pages } = await scan(throttling());
    expect(pages).toMatchObject({ code: "service_unavailable" });
  });

  // Lists that were throttled together come back apart.
  test("is tried after pauses of random length", async () => {
    fakeTime(0.1);
    const { pages, pauses } = await scan(throttling(), throttling(), page("1", true));
    expect(pages).toHaveLength(1);
    expect(pauses).toEqual([50, 100]);
  });

  test("has a minute of its own, however long the pages before it took", async () => {
    fakeTime(1);
    const throttled = Array.from({ length: 14 }, throttling);
    const { pages, pauses } = await scan(...throttled, page("1"), ...throttled, page("2", true));
    expect(pages).toHaveLength(2);
    expect(pauses).toEqual([...minute.slice(0, -1), 0, ...minute.slice(0, -1)]);
  });
});

test("each try at a page has 15 seconds of its own to arrive", async () => {
  const limits: AbortSignal[] = [];
  const limit = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => {
    limits.push(new AbortController().signal);
    return limits.at(-1) as AbortSignal;
  });
  onTestFinished(() => limit.mockRestore());
  fakeTime(0);
  await scan(throttling(), page("1"), page("2", true));
  expect(limit.mock.calls).toEqual([[15_000], [15_000], [15_000]]);
  const given = table
    .calls()
    .map(({ args }) => (args.at(1) as unknown as { abortSignal: AbortSignal }).abortSignal);
  expect(given.map((signal) => limits.indexOf(signal))).toEqual([0, 1, 2]);
});

test("lists that share a table with too few units for them are slow but whole", async () => {
  fakeTime(0.5);
  let left = 0;
  setInterval(() => {
    left = 15;
  }, 1000);
  table.on(ScanCommand).callsFake(async ({ ExclusiveStartKey }) => {
    left -= 1;
    if (left < 0) throw throttling();
    const id = Number(ExclusiveStartKey?.id.N ?? 0) + 1;
    return page(String(id), id === 5);
  });
  const listing = Promise.all(
    Array.from({ length: 20 }, () => Array.fromAsync(scanOrders(client, "orders"))),
  );
  const listed = listing.then((lists) => ({ lists, milliseconds: performance.now() }));
  await vi.advanceTimersByTimeAsync(60_000);
  const { lists, milliseconds } = await listed;
  for (const pages of lists) expect(pages).toHaveLength(5);
  expect(milliseconds).toBeGreaterThan(6_000);
});

test("the call that makes a function ready reads one order at most", async () => {
  table.on(ScanCommand).resolves({ Items: [] });
  await scanOne(client, "orders", new AbortController().signal);
  expect(table.commandCalls(ScanCommand).map(({ args }) => args[0].input)).toEqual([
    { TableName: "orders", Limit: 1 },
  ]);
});
