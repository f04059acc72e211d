import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import { constants, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorBody } from "../../shared/errors.ts";
import { type Behaviour, passOn } from "../helpers/faults/fault-proxy.ts";
import { applied, unapplied, unnoticed } from "../helpers/faults/faults.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";
import { type PageChoice, PagedLists } from "../helpers/faults/paged-lists.ts";

// A first page of this size is worth compressing.
const pageSize = 80;
const pages = 5;
const lists = new PagedLists(pageSize);
let stack: FaultyStack;
beforeAll(async () => {
  stack = await startFaultyStack(lists.choose, { maxEnvironments: 3 });
  const ids = Array.from({ length: pageSize * pages - stack.seeded }, (_, index) => String(20_000 + index));
  await Promise.all(ids.map((id) => stack.putOrder({ id: { N: id }, petId: { N: "1" }, status: { S: "pending" } })));
});
afterAll(() => stack?.stop());

/** The part of a response that arrived. */
interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Whether it ended as HTTP requires. */
  whole: boolean;
}

/** @param onBody called with the body so far, each time more arrives. */
const list = (choose: PageChoice, encoding = "identity", onBody?: (body: Buffer) => void): Promise<Received> =>
  lists.begin(choose, async () => {
    const headers = { authorization: `Bearer ${stack.apiKey}`, "accept-encoding": encoding };
    const [response] = await once(
      request(`${stack.baseUrl}/store/orders`, { headers, agent: false }).end(),
      "response",
    );
    let body = Buffer.alloc(0);
    const closed = Promise.withResolvers<void>();
    response.on("data", (chunk: Buffer) => {
      body = Buffer.concat([body, chunk]);
      onBody?.(body);
    });
    response.on("error", () => {}).on("close", closed.resolve);
    await closed.promise;
    return { status: response.statusCode, headers: response.headers, body, whole: response.complete };
  });

/** The text received, decompressed. */
function textOf({ headers, body }: Received): string {
  return headers["content-encoding"] === "gzip" ? gunzipSoFar(body) : body.toString();
}

function gunzipSoFar(body: Buffer): string {
  return gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
}

const idsIn = (text: string): string[] => text.match(/"id":-?\d+/g) ?? [];

// A scan changes nothing, so a fault after the engine is the same as one before it, unless half of the response arrives.
// A throttled page is waited out, for longer than a test should take: see integration/patient-lists.test.ts.
const { "reset mid-body": reset, "closed mid-body": closed } = applied;
const failing = { ...unapplied, "reset mid-body": reset, "closed mid-body": closed, ...unnoticed };
const brief = Object.fromEntries(Object.entries<Behaviour>(failing).filter(([name]) => !name.startsWith("throttled")));

describe.concurrent("a list with a page that can't be read", () => {
  test("is an Error if it is the first page", async () => {
    const received = await list(() => brief["500 of the service"], "gzip");
    expect(received).toMatchObject({ status: 503, whole: true });
    expect(textOf(received)).toBe(errorBody("service_unavailable"));
  });

  test.each([
    { page: Math.ceil(pages / 2), encoding: "gzip" },
    { page: pages, encoding: "identity" },
  ])("is visibly cut off if it is page $page ($encoding)", async ({ page, encoding }) => {
    const received = await list((asked) => (asked === page ? reset : undefined), encoding);
    expect(received).toMatchObject({ status: 200, whole: false });
    expect(received.headers["content-encoding"]).toBe(encoding === "gzip" ? "gzip" : undefined);
    expect(() => JSON.parse(textOf(received))).toThrow();
  });

  test("is whole, and has every order once, if each page can be read at its second attempt", async () => {
    const meet = Object.values(brief);
    const received = await list((page, attempt) => (attempt === 1 ? meet[page % meet.length] : undefined));
    expect(received).toMatchObject({ status: 200, whole: true });
    const ids = idsIn(textOf(received));
    expect(new Set(ids).size).toBe(pageSize * pages);
    expect(ids).toHaveLength(pageSize * pages);
  });
});

test.each(["identity", "gzip"])(
  "the whole first page arrives before the second one is there (%s)",
  async (encoding) => {
    const firstPageCame = Promise.withResolvers<void>();
    const secondPage: Behaviour = async (exchange) => {
      await firstPageCame.promise;
      await passOn(exchange);
    };
    const received = await list(
      (page) => (page === 2 ? secondPage : undefined),
      encoding,
      (body) => {
        const text = encoding === "gzip" ? gunzipSoFar(body) : body.toString();
        if (idsIn(text).length === pageSize) firstPageCame.resolve();
      },
    );
    expect(received).toMatchObject({ status: 200, whole: true });
    expect(JSON.parse(textOf(received))).toHaveLength(pageSize * pages);
  },
);

test("each list that was cut off is logged once as an error, with its request id and the number of orders sent", async () => {
  await expect.poll(() => stack.events("list_cut_off").length).toBe(2);
  const logged = stack.events("list_cut_off");
  expect(logged.map(({ message }) => message.orders).sort()).toEqual([2 * pageSize, 4 * pageSize]);
  expect(new Set(logged.map(({ requestId }) => requestId)).size).toBe(2);
  for (const { level, message } of logged) {
    expect({ level, keyId: message.keyId }).toEqual({ level: "ERROR", keyId: expect.stringMatching(/^key_/) });
  }
  await expect.poll(() => stack.events("list_failed").length).toBe(1);
});

test("the next request is served", async () => {
  const received = await list(() => undefined, "gzip");
  expect(received).toMatchObject({ status: 200, whole: true });
  expect(JSON.parse(textOf(received))).toHaveLength(pageSize * pages);
});
