import { type IncomingHttpHeaders, request } from "node:http";
import { constants, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorBody } from "../../shared/errors.ts";
import { type Behaviour, type EngineCall, passOn } from "../helpers/faults/fault-proxy.ts";
import { applied, unapplied, unnoticed } from "../helpers/faults/faults.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";

// A first page of this size is worth compressing.
const pageSize = 80;
const pages = 5;

/** Decides the outcome of an attempt to read a page of a list. Pages and attempts count from 1. */
type PageChoice = (page: number, attempt: number) => Behaviour | undefined;
// Of the list under way. There is one at a time.
let choosePage: PageChoice = () => undefined;
let pagesAsked = 0;

/** Makes the pages of a list small, and lets them meet the faults of the list under way. */
function choose({ operation, input, attempt }: EngineCall): Behaviour | undefined {
  if (operation !== "Scan") return undefined;
  const scan = JSON.parse(input);
  // A function that starts reads one order, to be ready.
  if (scan.Limit !== undefined) return undefined;
  if (attempt === 1) pagesAsked += 1;
  const behaviour = choosePage(pagesAsked, attempt) ?? passOn;
  const small = JSON.stringify({ ...scan, Limit: pageSize });
  return (exchange) => behaviour({ ...exchange, forward: () => exchange.forward(small) });
}

let stack: FaultyStack;
beforeAll(async () => {
  stack = await startFaultyStack(choose, { maxEnvironments: 1 });
  const orders = Array.from({ length: pageSize * pages - stack.seeded }, (_, index) => ({
    id: { N: String(20_000 + index) },
    petId: { N: "1" },
    status: { S: "pending" },
  }));
  await Promise.all(orders.map(stack.putOrder));
});
afterAll(() => stack?.stop());

/** The part of a response that arrived. */
interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  /** Decompressed. */
  text: string;
  /** Whether it ended as HTTP requires. */
  whole: boolean;
}

/**
 * Lists all orders.
 *
 * @param onText called with the text so far, each time more arrives.
 */
function list(
  choice: PageChoice,
  encoding = "identity",
  onText?: (text: string) => void,
): Promise<Received> {
  choosePage = choice;
  pagesAsked = 0;
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  let body = Buffer.alloc(0);
  const options = {
    headers: { authorization: `Bearer ${stack.apiKey}`, "accept-encoding": encoding },
    agent: false,
    timeout: 60_000,
  };
  const sent = request(`${stack.baseUrl}/store/orders`, options, (response) => {
    const { statusCode: status = 0, headers } = response;
    const text = () => textOf(body, headers["content-encoding"]);
    response.on("data", (chunk: Buffer) => {
      body = Buffer.concat([body, chunk]);
      onText?.(text());
    });
    response.on("error", () => {});
    response.on("close", () =>
      resolve({ status, headers, text: text(), whole: response.complete }),
    );
  });
  sent.on("timeout", () => {
    const received = `${body.length} bytes and ${pagesAsked} pages`;
    reject(new Error(`After ${received}, no more of the list arrived`));
  });
  sent.on("error", reject).end();
  return promise;
}

/** The text of a body of which the end may be missing. */
function textOf(body: Buffer, encoding: string | undefined): string {
  const bytes =
    encoding === "gzip" ? gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }) : body;
  return bytes.toString();
}

const idsIn = (text: string): string[] => text.match(/"id":-?\d+/g) ?? [];

// A scan changes nothing, so a fault after the engine is the same as one before it, unless half of
// the response arrives. A throttled page is waited out, for longer than a test should take: see
// unit/scan-orders.test.ts.
const pageFaults: Behaviour[] = [
  unapplied["no response"],
  unapplied["reset before a response"],
  unapplied["500 of the service"],
  unapplied["503 in HTML"],
  applied["reset mid-body"],
  applied["closed mid-body"],
  ...Object.values(unnoticed),
];

describe("a list with a page that can't be read", () => {
  test("is an Error if it is the first page", async () => {
    const received = await list(() => unapplied["500 of the service"], "gzip");
    expect(received).toMatchObject({
      status: 503,
      whole: true,
      text: errorBody("service_unavailable"),
    });
  });

  test.each([
    { page: Math.ceil(pages / 2), encoding: "gzip" },
    { page: pages, encoding: "identity" },
  ])("is visibly cut off if it is page $page ($encoding)", async ({ page, encoding }) => {
    const fault = applied["reset mid-body"];
    const received = await list((asked) => (asked === page ? fault : undefined), encoding);
    expect(received).toMatchObject({ status: 200, whole: false });
    expect(received.headers["content-encoding"]).toBe(encoding === "gzip" ? "gzip" : undefined);
    expect(() => JSON.parse(received.text)).toThrow();
  });
});

test("a list has every order once if each page can be read at the second attempt", async () => {
  const received = await list((page, attempt) =>
    attempt === 1 ? pageFaults[page % pageFaults.length] : undefined,
  );
  expect(received).toMatchObject({ status: 200, whole: true });
  const ids = idsIn(received.text);
  expect(new Set(ids).size).toBe(pageSize * pages);
  expect(ids).toHaveLength(pageSize * pages);
});

test.each(["identity", "gzip"])(
  "the whole first page arrives before the second one is there (%s)",
  async (encoding) => {
    let received = "";
    const firstPageArrived = Promise.withResolvers<void>();
    const secondPage: Behaviour = async (exchange) => {
      await firstPageArrived.promise;
      await passOn(exchange);
    };
    const listed = list(
      (page) => (page === 2 ? secondPage : undefined),
      encoding,
      (text) => {
        received = text;
      },
    );
    await expect
      .poll(() => idsIn(received), { message: "the orders of the first page" })
      .toHaveLength(pageSize);
    firstPageArrived.resolve();
    const whole = await listed;
    expect(whole).toMatchObject({ status: 200, whole: true });
    expect(JSON.parse(whole.text)).toHaveLength(pageSize * pages);
  },
);

describe("the log of the lists above", () => {
  test("has one error for each list that was cut off", async () => {
    await expect.poll(() => stack.events("list_cut_off").length).toBe(2);
    const logged = stack.events("list_cut_off");
    expect(logged.map(({ level }) => level)).toEqual(["ERROR", "ERROR"]);
    expect(new Set(logged.map(({ requestId }) => requestId)).size).toBe(2);
  });

  test("says how many orders each list had sent when it was cut off", async () => {
    const sent = () => stack.events("list_cut_off").map(({ message }) => message.orders);
    await expect.poll(() => sent().sort()).toEqual([2 * pageSize, 4 * pageSize]);
  });

  test("names the key of each list that was cut off", async () => {
    const keys = () => stack.events("list_cut_off").map(({ message }) => message.keyId);
    const keyId: string = expect.stringMatching(/^key_/);
    await expect.poll(keys).toEqual([keyId, keyId]);
  });

  test("has one failure for the list whose first page could not be read", async () => {
    await expect.poll(() => stack.events("list_failed").length).toBe(1);
  });
});
