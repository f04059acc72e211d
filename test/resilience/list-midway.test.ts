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
  stack = await startFaultyStack(lists.choose, { maxEnvironments: 6 });
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

// The slowest come first. A scan changes nothing, so a fault after the engine is the same as one before it, unless half
// of the response arrives.
const { "no response": noResponse, ...quick } = unapplied;
const { "slow trickle": trickle, "reset mid-body": reset, "closed mid-body": closed } = applied;
const brief = { "no response": noResponse, ...quick, "reset mid-body": reset, "closed mid-body": closed, ...unnoticed };
// A throttled page is waited out, for longer than a test should take: see patient-lists.test.ts.
const faults = Object.entries<Behaviour>({ "slow trickle": trickle, ...brief }).filter(
  ([name]) => !name.startsWith("throttled"),
);

// The pages after the first are all read alike, so each fault meets one of them.
const cases = faults.flatMap(([name, fault], index) => {
  const later =
    index % 2 === 0 ? { page: Math.ceil(pages / 2), encoding: "gzip" } : { page: pages, encoding: "identity" };
  return [
    { name, fault, page: 1, encoding: "gzip", cutOff: false },
    { name, fault, ...later, cutOff: true },
  ];
});

describe.concurrent("a list whose page", () => {
  test.each(cases)("$page meets $name ($encoding) is an Error, or visibly cut off: $cutOff", async (given) => {
    const { fault, page, encoding, cutOff } = given;
    const received = await list((asked) => (asked === page ? fault : undefined), encoding);
    if (cutOff) {
      expect(received).toMatchObject({ status: 200, whole: false });
      expect(received.headers["content-encoding"]).toBe(encoding === "gzip" ? "gzip" : undefined);
      expect(() => JSON.parse(textOf(received))).toThrow();
    } else {
      expect(received).toMatchObject({ status: 503, whole: true });
      expect(textOf(received)).toBe(errorBody("service_unavailable"));
    }
  });

  test("s each fail at first is whole, and has every order once", async () => {
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
  const cutOff = cases.filter(({ cutOff }) => cutOff).map(({ page }) => (page - 1) * pageSize);
  await expect.poll(() => stack.events("list_cut_off").length).toBe(cutOff.length);
  const logged = stack.events("list_cut_off");
  expect(logged.map(({ message }) => message.orders).sort()).toEqual(cutOff.sort());
  expect(new Set(logged.map(({ requestId }) => requestId)).size).toBe(cutOff.length);
  for (const { level, message } of logged) {
    expect({ level, keyId: message.keyId }).toEqual({ level: "ERROR", keyId: expect.stringMatching(/^key_/) });
  }
  await expect.poll(() => stack.events("list_failed").length).toBe(cases.length - cutOff.length);
});

test("the next request is served", async () => {
  const received = await list(() => undefined, "gzip");
  expect(received).toMatchObject({ status: 200, whole: true });
  expect(JSON.parse(textOf(received))).toHaveLength(pageSize * pages);
});
