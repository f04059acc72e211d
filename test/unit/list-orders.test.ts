import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { Context } from "aws-lambda";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../shared/clock.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { openOrderList } from "../../shared/order-list.ts";
import { listPage, ScanProtocol } from "../../shared/scan-protocol.ts";
import {
  awslambda,
  errorResponse,
  lambdaContext,
  proxyEvent,
  ResponseStream,
} from "../helpers/lambda.ts";
import { spyOnLog } from "../helpers/log.ts";

// Before middy's error handler is loaded, which would keep the real console.
const log = spyOnLog();

Object.assign(globalThis, { awslambda });
const { handler } = (await import("../../functions/list-orders.ts")) as unknown as {
  handler(event: object, stream: ResponseStream, context: Context): Promise<void>;
};

const table = mockClient(DynamoDBClient);
beforeEach(() => void table.reset());

const order = (id: number) => ({ id: { N: String(id) }, petId: { N: "7" } });
const orders = (count: number) =>
  Array.from({ length: count }, (_, index) => order(index));

const pageOf = (count: number) => listPage({ Items: orders(count), $metadata: {} });

const lastKey = { id: { N: "9223372036854775807" } };

type Pages = (OrderItem[] | Error)[];

/** Has the table respond to Scans with these pages, or fail. */
function havePages(...pages: Pages): void {
  const scan = table.on(ScanCommand);
  for (const [index, page] of pages.entries()) {
    const LastEvaluatedKey = index < pages.length - 1 ? lastKey : undefined;
    if (page instanceof Error) scan.rejectsOnce(page);
    else scan.resolvesOnce({ Items: page, LastEvaluatedKey });
  }
}

/** Lists the orders. The body is undefined when it was cut off, by an error in the function. */
async function list(event = proxyEvent({})) {
  const stream = new ResponseStream();
  const ended = handler(event, stream, lambdaContext());
  const [received, end] = await Promise.allSettled([buffer(stream), ended]);
  expect(received.status).toBe(end.status);
  const body = received.status === "fulfilled" ? received.value : undefined;
  return { prelude: stream.prelude, body };
}

const accepting = (encoding: string) =>
  proxyEvent({ headers: { "Accept-Encoding": encoding } });

/** The headers of an uncompressed list. */
const headers = {
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  Vary: "Accept-Encoding",
};
const logged = (fields: object) => [
  [expect.objectContaining({ keyId: "key_1", ...fields })],
];
const leftOut = (fields: object) => [
  [{ event: "order_fields_left_out", keyId: "key_1", fields }],
];

const timeout = Object.assign(new Error("secret"), { name: "TimeoutError" });
const id = { N: "1" };
const damaged = { id, petId: { S: "x" } };
/** An order that makes our own code fail. */
const poison = {
  get id(): never {
    throw new TypeError("secret");
  },
};

test.each<[orders: number, json: string, pages: Pages, warnings: object[]]>([
  [0, "[]", [[]], []],
  [2, '[{"id":1},{"id":3,"petId":7}]', [[], [{ id }], [], [order(3)]], []],
  [2, '[{"id":1},{"id":1}]', [[damaged], [damaged]], leftOut({ petId: 2 })],
])("a list is one array of all pages, and logs its %i orders", async (...row) => {
  const [orders, json, pages, warnings] = row;
  using pause = vi.spyOn(systemClock, "pause");
  havePages(...pages);
  const { prelude, body } = await list();
  expect(prelude).toEqual({ statusCode: 200, headers });
  expect(String(body)).toBe(json);
  const firstPageMilliseconds = expect.any(Number);
  const line = { event: "orders_listed", keyId: "key_1", orders, firstPageMilliseconds };
  expect(log.info.mock.calls).toEqual([[line]]);
  expect(log.warn.mock.calls).toEqual(warnings);
  // A timer that is left would hold the list for 15 minutes.
  await expect(pause.mock.results.at(-1)?.value).rejects.toThrow("aborted");
  // Parsing pages takes twice the CPU.
  const protocol = expect.any(ScanProtocol);
  expect(table.calls()[0]?.thisValue).toMatchObject({ config: { protocol } });
});

test.each([false, true])(
  "a list sends each page at once, and requests one page ahead (gzip: %s)",
  async (acceptsGzip) => {
    let requested = 0;
    async function* pages() {
      while (requested < 10) {
        requested += 1;
        yield pageOf(1000);
      }
    }
    const body = await openOrderList(pages(), "key_1", acceptsGzip, () => 900_000);
    await setImmediate();
    expect(requested).toBe(2);
    let read = 0;
    for await (const page of body) {
      expect(page).not.toHaveLength(0);
      read += 1;
      // The stream holds the page before the one that was requested.
      expect(requested - read).toBeLessThanOrEqual(2);
    }
  },
);

test("a list logs how many milliseconds its first page took", async () => {
  using clock = vi.spyOn(performance, "now").mockReturnValue(1000);
  async function* pages() {
    clock.mockReturnValue(1250.4);
    yield pageOf(1);
  }
  const body = await openOrderList(pages(), "key_1", false, () => 900_000);
  // The rest is as slow as its reader.
  clock.mockReturnValue(9000);
  await once(body.resume(), "close");
  expect(log.info.mock.calls).toEqual(logged({ firstPageMilliseconds: 250 }));
});

test.each<[what: string, code: ErrorCode, pages: Pages]>([
  ["the first page", "service_unavailable", [timeout]],
  ["a page after two empty ones", "internal_error", [[], [], new Error("secret")]],
  ["an attribute", "internal_error", [[poison]]],
])("a list is an Error when %s can't be read, and logs %s", async (_, code, pages) => {
  havePages(...pages);
  const { prelude, body } = await list(accepting("gzip"));
  expect({ ...prelude, body: String(body) }).toEqual(errorResponse(code));
  expect(log.error.mock.calls).toEqual(logged({ event: "list_failed", code }));
});

test("a list without a key id is rejected before a call to the table", async () => {
  const event = proxyEvent({});
  event.requestContext.authorizer = null;
  const { body } = await list(event);
  expect(String(body)).toBe(errorResponse("internal_error").body);
  expect(table.calls()).toHaveLength(0);
});

test.each<
  [end: string, encoding: string, first: OrderItem[], second: Pages[0], warnings: object]
>([
  ["can't be read", "gzip", orders(1000), new Error("secret"), []],
  ["can't be read", "identity", [damaged], new Error("secret"), leftOut({ petId: 1 })],
  ["makes our own code fail", "identity", [order(1)], [poison], []],
])("a list is cut off if a later page %s (%s), and logged once", async (...row) => {
  const [, encoding, first, second, warnings] = row;
  const { length } = first;
  const unhandled = vi.fn<(error: unknown) => void>();
  process.on("unhandledRejection", unhandled);
  onTestFinished(() => void process.off("unhandledRejection", unhandled));
  havePages(first, second);
  const { prelude, body } = await list(accepting(encoding));
  expect(prelude).toMatchObject({ statusCode: 200 });
  expect(body).toBeUndefined();
  expect(log.error.mock.calls).toEqual(logged({ event: "list_cut_off", orders: length }));
  // The page failed before its turn to be read.
  expect(unhandled).not.toHaveBeenCalled();
  expect(log.warn.mock.calls).toEqual(warnings);
});

const reason = (message: string) => ({
  event: "list_cut_off",
  causes: [expect.anything(), expect.objectContaining({ message })],
});

test.each<[acceptsGzip: boolean, scale: number]>([
  [false, 200],
  [true, 5000],
])(
  "a list is cut off just below 200 MB as sent (gzip: %s)",
  async (acceptsGzip, scale) => {
    const { byteLength } = Buffer;
    // Each byte counts as many, so that the list needn't be so long.
    using _scaled = vi
      .spyOn(Buffer, "byteLength")
      .mockImplementation((data) => scale * byteLength(data));
    async function* pages() {
      for (let page = 0; page < 80; page += 1) yield pageOf(1000);
    }
    const body = await openOrderList(pages(), "key_1", acceptsGzip, () => 900_000);
    let sent = 0;
    body.on("data", (chunk: string | Buffer) => (sent += chunk.length));
    await expect(once(body, "end")).rejects.toThrow();
    expect(sent * scale).toBeGreaterThan(190_000_000);
    expect(sent * scale).toBeLessThan(200_000_000);
    const cutOff = reason("The list exceeds 199000000 bytes");
    expect(log.error.mock.calls).toEqual(logged(cutOff));
  },
);

test.each<[reason: string, second: () => Promise<object>]>([
  ["its client reads nothing", async () => ({ Items: orders(20_000) })],
  ["its next page is awaited", () => new Promise(() => {})],
])(
  "a list is cut off five seconds before Lambda's timeout, though %s",
  async (_, second) => {
    const time = Promise.withResolvers<void>();
    using pause = vi.spyOn(systemClock, "pause").mockReturnValue(time.promise);
    const first = { Items: orders(20_000), LastEvaluatedKey: lastKey };
    table.on(ScanCommand).resolvesOnce(first).callsFake(second);
    const stream = new ResponseStream();
    const ended = expect(
      handler(proxyEvent({}), stream, lambdaContext()),
    ).rejects.toThrow();
    await expect.poll(() => stream.readableLength).toBeGreaterThan(0);
    time.resolve();
    const cutOff = logged(reason("Lambda's timeout is near"));
    await expect.poll(() => log.error.mock.calls).toEqual(cutOff);
    await ended;
    // Of the 10 that a test's invocation has.
    expect(pause.mock.calls).toEqual([[5_000, expect.anything()]]);
  },
);

test("a list stops reading when its client leaves, which is logged as no failure", async () => {
  const page = async () => ({ Items: orders(20_000), LastEvaluatedKey: lastKey });
  table.on(ScanCommand).callsFake(page);
  const stream = new ResponseStream();
  const ended = handler(proxyEvent({}), stream, lambdaContext());
  await expect.poll(() => stream.readableLength).toBeGreaterThan(0);
  stream.destroy(new Error("client gone"));
  await expect(ended).rejects.toThrow("client gone");
  expect(table.calls().length).toBeLessThanOrEqual(3);
  expect(log.info.mock.calls).toEqual(logged({ event: "list_abandoned" }));
  expect(log.error).not.toHaveBeenCalled();
});

test.each<[accepted: string, count: number, encoding?: string]>([
  ["zstd, br, deflate, gzip", 1000, "gzip"],
  ["identity", 1000],
  ["br", 1000],
  ["gzip;q=0, *", 1000],
  ["gzip", 1, "gzip"],
])("a client that accepts %s gets %i orders as %s", async (accepted, count, encoding) => {
  havePages([], orders(count));
  const { prelude, body = Buffer.alloc(0) } = await list(accepting(accepted));
  const expected = { ...headers, ...(encoding && { "Content-Encoding": encoding }) };
  expect(prelude).toEqual({ statusCode: 200, headers: expected });
  const json = encoding ? gunzipSync(body) : body;
  expect(JSON.parse(String(json))).toHaveLength(count);
});
