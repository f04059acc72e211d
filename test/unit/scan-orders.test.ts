import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { scanOne, scanOrders } from "../../shared/orders-table.ts";

const table = mockClient(DynamoDBClient);
beforeEach(() => void table.reset());

const client = new DynamoDBClient({});
const throttling = () =>
  Object.assign(new Error("secret"), { name: "ThrottlingException" });
const page = (id: string, last = false) => ({
  Items: [{ id: { N: id } }],
  ...(!last && { LastEvaluatedKey: { id: { N: id } } }),
});

/** Makes time pass only when a test says so, and each pause this share of its longest. */
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
  /** When each attempt was made. */
  const attempts: number[] = [];
  table.on(ScanCommand).callsFake(async () => {
    const response = responses[attempts.length] ?? responses.at(-1);
    attempts.push(performance.now());
    if (response instanceof Error) throw response;
    return response;
  });
  const pages = Array.fromAsync(scanOrders(client, "orders")).catch(
    (error: unknown) => error,
  );
  await vi.runAllTimersAsync();
  return {
    pages: await pages,
    pauses: attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0)),
  };
}

describe("a page that the table throttles", () => {
  // The last one is cut to end with the minute.
  const minute = [500, 1000, 2000, 4000, ...Array.from({ length: 10 }, () => 5000), 2500];

  test("is retried for a minute, after half a second to five, and then fails", async () => {
    fakeTime(1);
    const { pages, pauses } = await scan(throttling());
    expect(pauses).toEqual(minute);
    expect(pages).toMatchObject({ code: "service_unavailable" });
  });

  // So that lists which were throttled together don't all retry at once.
  test("is retried after pauses of random length", async () => {
    fakeTime(0.1);
    const { pages, pauses } = await scan(throttling(), throttling(), page("1", true));
    expect(pages).toHaveLength(1);
    expect(pauses).toEqual([50, 100]);
  });

  test("has a minute of its own, however long the pages before it took", async () => {
    fakeTime(1);
    const throttled = Array.from({ length: 14 }, throttling);
    const { pages, pauses } = await scan(
      ...throttled,
      page("1"),
      ...throttled,
      page("2", true),
    );
    expect(pages).toHaveLength(2);
    expect(pauses).toEqual([...minute.slice(0, -1), 0, ...minute.slice(0, -1)]);
  });
});

test("each attempt to read a page has 15 seconds of its own", async () => {
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

test("the call that makes a function ready reads at most one order", async () => {
  table.on(ScanCommand).resolves({ Items: [] });
  await scanOne(client, "orders", new AbortController().signal);
  expect(table.commandCalls(ScanCommand).map(({ args }) => args[0].input)).toEqual([
    { TableName: "orders", Limit: 1 },
  ]);
});
