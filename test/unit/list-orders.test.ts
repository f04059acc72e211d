import { buffer, text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { errorBody } from "../../shared/errors.ts";
import { type OrderItem, orderFields } from "../../shared/order.ts";
import { openOrderList } from "../../shared/order-list.ts";
import { awslambda, lambdaContext, proxyEvent, ResponseStream } from "../helpers/lambda.ts";
import { spyOnLog } from "../helpers/log.ts";

// Before middy's error handler is loaded, which would keep the real console.
const log = spyOnLog();

type StreamingHandler = (
  event: APIGatewayProxyEvent,
  stream: ResponseStream,
  context: Context,
) => Promise<void>;
Object.assign(globalThis, { awslambda });
const { handler } = (await import("../../functions/list-orders.ts")) as unknown as {
  handler: StreamingHandler;
};

/** The SDK's client as the function has it, new for each test. */
const table = mockClient(DynamoDBClient);
beforeEach(() => void table.reset());

const order = (id: number) => ({
  id: { N: String(id) },
  petId: { N: "7" },
  complete: { BOOL: false },
});
const orders = (count: number) => Array.from({ length: count }, (_, index) => order(index));

/** The key of the last order of each page but the last. */
const lastKey = { id: { N: "9223372036854775807" } };

/** Has the table respond to Scans with these pages, or fail. */
function havePages(...pages: (OrderItem[] | Error)[]): void {
  const scan = table.on(ScanCommand);
  for (const [index, page] of pages.entries()) {
    const isLast = index === pages.length - 1;
    if (page instanceof Error) scan.rejectsOnce(page);
    else scan.resolvesOnce(isLast ? { Items: page } : { Items: page, LastEvaluatedKey: lastKey });
  }
}

/** Lists the orders, with these headers in the request. */
function list(requestHeaders: Record<string, string> = {}) {
  const stream = new ResponseStream();
  const event = proxyEvent({ headers: requestHeaders });
  const ended = handler(event, stream, lambdaContext("invocation-1"));
  return { stream, ended };
}

/** Lists the orders, and expects the function and the body to fail. */
async function listCutOff(requestHeaders?: Record<string, string>): Promise<ResponseStream> {
  const { stream, ended } = list(requestHeaders);
  const received = buffer(stream);
  await expect(ended).rejects.toThrow();
  await expect(received).rejects.toThrow();
  return stream;
}

/** The headers of an uncompressed list. */
const headers = {
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  Vary: "Accept-Encoding",
};
const listed = (count: number) => ({
  event: "orders_listed",
  keyId: "key_1",
  orders: count,
  firstPageMilliseconds: expect.any(Number),
});
const logged = (fields: object) => [[expect.objectContaining(fields)]];

describe("listing the orders", () => {
  test("responds with an empty array when there are none", async () => {
    havePages([]);
    const { stream } = list();
    expect(await text(stream)).toBe("[]");
    expect(stream.prelude).toEqual({ statusCode: 200, headers });
  });

  test("responds with the orders of every page in one array", async () => {
    havePages([], [order(1), order(2)], [], [order(3)]);
    const { stream } = list();
    expect(await text(stream)).toBe(
      '[{"id":1,"petId":7,"complete":false},{"id":2,"petId":7,"complete":false},{"id":3,"petId":7,"complete":false}]',
    );
  });

  test.each([
    { count: 0, pages: [[]] },
    { count: 3, pages: [[], [order(1), order(2)], [], [order(3)]] },
  ])("logs how many orders it has listed: $count", async ({ count, pages }) => {
    havePages(...pages);
    await text(list().stream);
    expect(log.info.mock.calls).toEqual([[listed(count)]]);
  });

  test("is a sequential Scan with exactly this input", async () => {
    havePages([order(1)], [order(2)]);
    await text(list().stream);
    const scan = {
      TableName: "orders",
      ProjectionExpression: orderFields.map(({ name }) => name).join(", "),
    };
    expect(table.commandCalls(ScanCommand).map(({ args }) => args[0].input)).toEqual([
      scan,
      { ...scan, ExclusiveStartKey: lastKey },
    ]);
  });

  test("reads each page with an abort signal", async () => {
    havePages([order(1)], [order(2)]);
    await text(list().stream);
    for (const { args } of table.calls())
      expect(args.at(1)).toEqual({ abortSignal: expect.any(AbortSignal) });
    expect(table.calls()).toHaveLength(2);
  });

  test.each([false, true])(
    "requests one page ahead of the one that is read (gzip: %s)",
    async (acceptsGzip) => {
      let requested = 0;
      async function* pages() {
        while (requested < 10) {
          requested += 1;
          yield orders(1000);
        }
      }
      const { body } = await openOrderList(pages(), { acceptsGzip, keyId: "key_1" });
      await setImmediate();
      expect(requested).toBe(2);
      let read = 0;
      const ahead: number[] = [];
      for await (const _page of body) {
        read += 1;
        ahead.push(requested - read);
      }
      // The stream holds the page before the one that was requested.
      expect(Math.max(...ahead)).toBe(2);
    },
  );

  test("logs how many milliseconds the first page took", async () => {
    const clock = vi.spyOn(performance, "now").mockReturnValue(1000);
    onTestFinished(() => clock.mockRestore());
    async function* pages() {
      clock.mockReturnValue(1250.4);
      yield [order(1)];
    }
    const { body } = await openOrderList(pages(), { acceptsGzip: false, keyId: "key_1" });
    await text(body);
    expect(log.info.mock.calls).toEqual([[{ ...listed(1), firstPageMilliseconds: 250 }]]);
  });

  const timeout = Object.assign(new Error("secret"), { name: "TimeoutError" });

  test("responds with an Error record when the first page can't be read", async () => {
    havePages(timeout);
    const { stream, ended } = list({ "Accept-Encoding": "gzip" });
    expect(await text(stream)).toBe(errorBody("service_unavailable"));
    await ended;
    expect(stream.prelude).toEqual({
      statusCode: 503,
      headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
    });
  });

  test("logs a list whose first page can't be read as failed", async () => {
    havePages(timeout);
    await text(list().stream);
    expect(log.error.mock.calls).toEqual(
      logged({ event: "list_failed", keyId: "key_1", code: "service_unavailable" }),
    );
  });

  test("responds with an Error record when only empty pages precede one that fails", async () => {
    havePages([], [], new Error("secret"));
    const { stream, ended } = list();
    expect(await text(stream)).toBe(errorBody("internal_error"));
    await ended;
    expect(stream.prelude).toMatchObject({ statusCode: 500 });
  });

  test("rejects a request without a key id before it calls the table", async () => {
    const event = proxyEvent({});
    event.requestContext.authorizer = null;
    const stream = new ResponseStream();
    const ended = handler(event, stream, lambdaContext("invocation-1"));
    expect(await text(stream)).toBe(errorBody("internal_error"));
    await ended;
    expect(table.calls()).toHaveLength(0);
  });

  test.each([{}, { "Accept-Encoding": "gzip" }])(
    "cuts off the body when a later page can't be read (%j)",
    async (accept) => {
      havePages(orders(1000), new Error("secret"));
      const stream = await listCutOff(accept);
      expect(stream.prelude).toMatchObject({ statusCode: 200 });
    },
  );

  test("logs how many orders a list had when it was cut off", async () => {
    havePages(orders(1000), new Error("secret"));
    await listCutOff();
    expect(log.error.mock.calls).toEqual(
      logged({ event: "list_cut_off", keyId: "key_1", orders: 1000 }),
    );
  });

  test("logs the fields that it left out of a list that was cut off", async () => {
    havePages([{ id: { N: "1" }, petId: { S: "x" } }], new Error("secret"));
    await listCutOff();
    expect(log.warn.mock.calls).toEqual([
      [{ event: "order_fields_left_out", keyId: "key_1", fields: { petId: 1 } }],
    ]);
  });

  test("logs a list as cut off, not abandoned, when our own code fails", async () => {
    const poison = {
      get id(): never {
        throw new TypeError("secret");
      },
    };
    havePages(orders(1000), [poison]);
    await listCutOff();
    expect(log.error.mock.calls).toEqual(logged({ event: "list_cut_off" }));
  });

  test("leaves no rejection unhandled when a page fails before the client reads", async () => {
    const unhandled = vi.fn<(error: unknown) => void>().mockName("unhandledRejection");
    process.on("unhandledRejection", unhandled);
    onTestFinished(() => void process.off("unhandledRejection", unhandled));
    async function* pages() {
      yield [order(1)];
      throw new Error("secret");
    }
    const { body } = await openOrderList(pages(), { acceptsGzip: false, keyId: "key_1" });
    // Node.js reports a rejection at the end of the turn in which nothing handled it.
    await setImmediate();
    expect(unhandled).not.toHaveBeenCalled();
    await expect(text(body)).rejects.toThrow();
  });

  describe("for a client that leaves", () => {
    beforeEach(async () => {
      const page = async () => ({ Items: orders(20_000), LastEvaluatedKey: lastKey });
      table.on(ScanCommand).callsFake(page);
      const { stream, ended } = list();
      await expect.poll(() => stream.readableLength).toBeGreaterThan(0);
      stream.destroy(new Error("client gone"));
      await expect(ended).rejects.toThrow("client gone");
    });

    test("stops reading the table", () => {
      expect(table.calls().length).toBeLessThanOrEqual(3);
    });

    test("is logged as abandoned, not as a failure", () => {
      expect(log.info.mock.calls).toEqual(logged({ event: "list_abandoned", keyId: "key_1" }));
      expect(log.error).not.toHaveBeenCalled();
    });
  });

  test.each(["gzip", "br, gzip", "gzip;q=0.5", "*"])(
    "compresses when the client accepts %s",
    async (accepted) => {
      havePages([], orders(1000));
      const { stream } = list({ "Accept-Encoding": accepted });
      const body = await buffer(stream);
      expect(stream.prelude).toEqual({
        statusCode: 200,
        headers: { ...headers, "Content-Encoding": "gzip" },
      });
      expect(JSON.parse(gunzipSync(body).toString())).toHaveLength(1000);
    },
  );

  test.each([undefined, "identity", "br", "gzip;q=0", "gzip;q=0, *", "*;q=0"])(
    "does not compress when the client accepts %s",
    async (accepted) => {
      havePages(orders(1000));
      const { stream } = list(accepted === undefined ? {} : { "Accept-Encoding": accepted });
      expect(JSON.parse(await text(stream))).toHaveLength(1000);
      expect(stream.prelude).toEqual({ statusCode: 200, headers });
    },
  );

  test("leaves a small list uncompressed", async () => {
    havePages([order(1)]);
    const { stream } = list({ "Accept-Encoding": "gzip" });
    expect(await text(stream)).toBe('[{"id":1,"petId":7,"complete":false}]');
    expect(stream.prelude).toEqual({ statusCode: 200, headers });
  });

  const wrongTypes = () => [
    { id: { N: "1" }, petId: { S: "x" } },
    { id: { N: "2" }, petId: { N: "1.5" } },
  ];

  test("leaves out attributes of the wrong type", async () => {
    havePages(wrongTypes());
    expect(await text(list().stream)).toBe('[{"id":1},{"id":2}]');
  });

  test("logs no warning when it left out nothing", async () => {
    havePages([order(1)], [order(2)]);
    await text(list().stream);
    expect(log.warn).not.toHaveBeenCalled();
  });

  test("logs once how many attributes it left out", async () => {
    havePages(wrongTypes());
    await text(list().stream);
    expect(log.warn.mock.calls).toEqual([
      [{ event: "order_fields_left_out", keyId: "key_1", fields: { petId: 2 } }],
    ]);
  });
});
