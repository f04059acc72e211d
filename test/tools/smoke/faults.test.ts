import { AssertionError } from "node:assert/strict";
import { describe, expect, test } from "vitest";
import { smokeChecks } from "../../../infra/tools/smoke/checks.ts";
import { Warning } from "../../../infra/tools/smoke/client.ts";
import { errorBody } from "../../../shared/errors.ts";
import {
  errorResponse,
  type Fault,
  hangUp,
  pendingOrder,
  type TinyResponse,
  tinyServiceForEachTest,
  when,
} from "./tiny-service.ts";

const service = tinyServiceForEachTest();

/** Changes a response by how many requests came before. */
const inTurn = (change: (index: number) => Partial<TinyResponse>): Fault => {
  let sent = 0;
  return (_request, right) => ({ ...right, ...change(sent++) });
};

const list = (body: TinyResponse["body"]) => when(/ 200$/, { body });

/** Turns every third request away. */
const throttled = (headers: Record<string, string>, other: Partial<TinyResponse> = {}) =>
  inTurn((index) =>
    index % 3 === 0 ? errorResponse("too_many_requests", headers) : other,
  );
const afterASecond = { "Retry-After": "1" };

/** Sends a list of 70,000 characters an order. */
const longList = (orders: number, end: string) => {
  const order = (id: number) => `{"id":${id}},`.padEnd(70_000);
  return list(["[", ...Array.from({ length: orders }, (_, id) => order(id)), `{}${end}`]);
};

const racing = `204 for exactly one of 20 cancellations of order ${pendingOrder}, 409 for the rest`;
const throttling =
  "429 and Retry-After for too many requests, the documented Error for the others";
const slowReading = "the whole list for a client that reads slowly for a minute";

/** By check: what the smoke test says of each way to break it. Any wrong response is tried below. */
const faults: Record<string, [seen: string, fault: Fault][]> = {
  "401 without a key, naming the Bearer scheme": [
    [
      'GET /store/orders: code {"message":"Unauthorized"} instead of unauthorized',
      when(/ 401$/, { body: '{"message":"Unauthorized"}' }),
    ],
  ],
  "200 and an array of orders for GET /store/orders": [
    [
      'status 500 instead of 200, with the body "on fire"',
      when(/ 200$/, { status: 500, body: "on fire" }),
    ],
    ["the body is not a JSON array", list('{"orders":[]}')],
    ["body must be array", list("")],
    [
      'must NOT have additional properties "pets_test_..."',
      ({ key }, right) => ({ ...right, body: `[{"${key}":1}]` }),
    ],
    [
      'object": 1; body/4 must be object "object": 1; and 995 more',
      list(`[${Array(1000).fill(1)}]`),
    ],
    [
      "body/2/complete must be boolean",
      list(['[{"id":1},{"id":2}', ",", '{"id":3,"complete":1}]']),
    ],
    [
      "order -9007199254740993 is listed twice",
      list([
        '[{"id":-9007199254740993},{"id":-9007199',
        '254740992},{"id":-90071',
        "99254740993}]",
      ]),
    ],
    [`order ${pendingOrder} is not listed`, list('[{"id":9223372036854775806}]')],
    ["can't be read to its end: aborted", hangUp],
    [
      "characters is not compressed",
      list(`[{"id":${pendingOrder}}${",{}".repeat(34_000)}]`),
    ],
  ],
  "the beginning of an uncompressed list for a client that accepts no compression": [
    [
      "the list is compressed",
      when(/ 200$/, { headers: { "Content-Encoding": "gzip" } }),
    ],
    ["body must be array", list("[")],
  ],
  "413 for a body of more than 10 MB, from the gateway or from AWS before it": [
    [
      "status 405 instead of 413",
      when(/ 413$/, { status: 405, headers: { "Content-Type": "text/plain" } }),
    ],
  ],
  "405 and Allow for another method on a known path": [
    [
      'orders allows ["GET","PUT"] instead of ["GET"]',
      when(/ 405$/, { headers: { Allow: "PUT, GET" } }),
    ],
  ],
  [`204 for exactly one of 2 cancellations of order ${pendingOrder}, 409 for the rest`]: [
    ["status 200 instead of 204", when(/ 204$/, { status: 200 })],
    [
      "headers/cache-control must be equal to",
      when(/ 204$/, { headers: { "Cache-Control": "public" } }),
    ],
    ["was not pending. Name one that is", () => errorResponse("order_already_cancelled")],
    [
      'code "order_already_shipped"',
      when(/ 409$/, { body: errorBody("order_already_shipped") }),
    ],
  ],
  [racing]: [
    [
      "status 204 instead of 409",
      inTurn((index) => (index === 7 ? { status: 204, body: "" } : {})),
    ],
  ],
  [throttling]: [
    ["120 requests, 60 at a time, were all let in", (_request, right) => right],
    ["status 400 instead of 404", throttled(afterASecond, errorResponse("bad_request"))],
    ["must have required property 'retry-after'", throttled({})],
  ],
  [slowReading]: [
    ["the body is not a JSON array", longList(40, "")],
    ["too few to be read for a minute", longList(1, "]")],
  ],
};

const checks = {
  ...smokeChecks(pendingOrder),
  ...smokeChecks(pendingOrder, true, 120),
};

/** Runs a check on a service with a fault, on a clock that only pauses move. */
async function errorOf(check: string, fault = service.fault, isLocal = false) {
  service.fault = fault;
  let now = 0;
  const pause = async (milliseconds: number) => {
    now += milliseconds;
  };
  const run = checks[check]?.({ ...service, isLocal }, { now: () => now, pause });
  return await run?.catch((error: Error) => error);
}

const problemOf = async (check: string, fault?: Fault) =>
  String((await errorOf(check, fault))?.message);

test.each(Object.keys(smokeChecks()))(
  "any wrong response breaks the smoke test's check: %s",
  async (check) => {
    const received: TinyResponse[] = [];
    const pass: Fault = (_request, right) => {
      received.push(right);
      return right;
    };
    expect(await problemOf(check, pass)).toBe("undefined");
    for (const [index, { status, headers }] of [...received].entries()) {
      // AWS's own 413 has another type.
      const names = Object.keys(headers).filter(
        (name) => status !== 413 || name !== "Content-Type",
      );
      const fewer = names.map((name) => {
        const { [name]: _, ...others } = headers;
        return { headers: others };
      });
      for (const wrong of [{ status: 418 }, { body: "null" }, ...fewer]) {
        const fault = inTurn((sent) => (sent === index ? wrong : {}));
        const problem = await problemOf(check, fault);
        expect(problem, `${index}: ${JSON.stringify(wrong)}`).not.toBe("undefined");
      }
    }
  },
);

describe.each(Object.entries(faults))("the smoke test's check: %s", (check, cases) => {
  test.each(cases)("fails with: %s", async (seen, fault) => {
    const problem = await problemOf(check, fault);
    expect(problem).toContain(seen);
    expect(problem).not.toContain(service.apiKey);
  });
});

test.each([
  [racing, undefined],
  [throttling, throttled(afterASecond)],
  [slowReading, longList(40, "]")],
])("a good service passes the thorough check: %s", async (check, fault) => {
  expect(await problemOf(check, fault)).toBe("undefined");
});

test.each([
  [throttling, when(/^$/, {})],
  [slowReading, longList(1, "]")],
])(
  "what a local service lacks is no failure there, but elsewhere: %s",
  async (check, fault) => {
    expect(await errorOf(check, fault)).toBeInstanceOf(AssertionError);
    expect(await errorOf(check, fault, true)).toBeInstanceOf(Warning);
  },
);
