import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { orderFields } from "../../shared/order.ts";
import { scanOne, scanOrders } from "../../shared/orders-table.ts";

const table = mockClient(DynamoDBClient);
const client = new DynamoDBClient({});
beforeEach(() => {
  table.reset();
  // The longest random pause is taken; time passes only when a test says so.
  vi.spyOn(Math, "random").mockReturnValue(1);
  vi.useFakeTimers({
    toFake: ["setTimeout", "setInterval", "performance"],
    fakeNodeBuiltins: true,
  });
});
afterEach(() => void vi.restoreAllMocks());

const throttling = Object.assign(new Error("secret"), { name: "ThrottlingException" });
const Items = [{ id: { N: "1" } }];
const ofItems = { json: Buffer.from(',{"id":1}'), orders: 1, omittedFields: {} };
const page = { Items, LastEvaluatedKey: Items[0] };
const lastPage = { Items };

/** Scans a table that responds to each attempt with the next of these, and repeats the last. */
async function scan(...responses: (Error | { Items: typeof Items })[]) {
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

const growing = [500, 1000, 2000, 4000, ...Array.from({ length: 10 }, () => 5000)];

test("a throttled page is retried for a minute, after half a second to five, and then fails", async () => {
  const { pages, pauses } = await scan(throttling);
  // The last one is cut to end with the minute.
  expect(pauses).toEqual([...growing, 2500]);
  expect(pages).toMatchObject({ code: "service_unavailable" });
});

// So that lists which were throttled together don't all retry at once.
test("a throttled page is retried after pauses of random length", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.1);
  const { pages, pauses } = await scan(throttling, throttling, lastPage);
  expect(pages).toEqual([ofItems]);
  expect(pauses).toEqual([50, 100]);
});

test("a throttled page has a minute of its own, however long the pages before it took", async () => {
  const throttled = growing.map(() => throttling);
  const { pages, pauses } = await scan(...throttled, page, ...throttled, lastPage);
  expect(pages).toEqual([ofItems, ofItems]);
  expect(pauses).toEqual([...growing, 0, ...growing]);
});

test("each attempt to read a page is a Scan with exactly this input, and 15 seconds of its own", async () => {
  const limit = vi.spyOn(AbortSignal, "timeout");
  await scan(throttling, page, lastPage);
  expect(limit.mock.calls).toEqual([[15_000], [15_000], [15_000]]);
  // No name stands for itself: DynamoDB rejects those that it reserves.
  const placeholders = orderFields.map(({ name }) => [`#${name}`, name] as const);
  const first = {
    TableName: "orders",
    ProjectionExpression: placeholders.map(([placeholder]) => placeholder).join(", "),
    ExpressionAttributeNames: Object.fromEntries(placeholders),
  };
  const inputs = [first, first, { ...first, ExclusiveStartKey: page.LastEvaluatedKey }];
  const limits = limit.mock.results.map(({ value }) => ({ abortSignal: value }));
  expect(table.calls().map(({ args }) => args[0].input)).toEqual(inputs);
  expect(table.calls().map(({ args }) => args.at(1))).toEqual(limits);
});

test("the call that makes a function ready reads at most one order", async () => {
  table.on(ScanCommand).resolves({});
  await scanOne(client, "orders", new AbortController().signal);
  expect(table.calls().map(({ args }) => args[0].input)).toEqual([
    { TableName: "orders", Limit: 1 },
  ]);
});
