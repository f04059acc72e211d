import { describe, expect, test } from "vitest";
import { smokeChecks } from "../../../infra/tools/smoke/checks.ts";
import { errorBody } from "../../../shared/errors.ts";
import {
  errorResponse,
  type Fault,
  hangUp,
  pendingOrder,
  type TinyResponse,
  tinyServiceForEachTest,
  when,
  without,
} from "./tiny-service.ts";

const service = tinyServiceForEachTest();

type Case = [seen: string, fault: Fault];

const gets = (status: number, pattern: RegExp): Case => [
  `status ${status} instead of `,
  when(pattern, { status }),
];

/** Changes a response by how many requests came before. */
const inTurn = (change: (index: number) => Partial<TinyResponse>): Fault => {
  let sent = 0;
  return (_request, right) => ({ ...right, ...change(sent++) });
};

const cancelled = { status: 204, body: "" };
const tooLate = errorResponse("order_already_cancelled");
const list = (body: TinyResponse["body"]) => when(/ 200$/, { body });
const compressed = when(/ 200$/, { headers: { "Content-Encoding": "gzip" } });
const cancelsAbsent = /orders\/-/;

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

const racing = `204 for exactly one of 21 cancellations of order ${pendingOrder}, 409 for the rest`;
const throttling =
  "429 and Retry-After for too many requests, the documented Error for the others";
const slowReading = "the whole list for a client that reads slowly for a minute";

/** By promise: what the smoke test says of each way to break it. */
const faults: Record<string, Case[]> = {
  "401 without a key, naming the Bearer scheme": [
    gets(200, /^GET .* keyless/),
    gets(403, /^DELETE .* keyless/),
    ["headers must have required property 'www-auth", without("WWW-Authenticate", 401)],
    [
      'GET /store/orders: code {"message":"Unauthorized"} instead of unauthorized',
      when(/ 401$/, { body: '{"message":"Unauthorized"}' }),
    ],
  ],
  "401 for a malformed key or another scheme": [
    gets(200, /no-key/),
    gets(500, /bm86a2V5/),
    gets(500, /KEY0/),
    gets(500, /MISTYPED/),
  ],
  "401 for a key that was never issued, however often it is sent": [
    gets(200, /pets_/),
    // It is sent for two operations, and again.
    ["status 500 instead of ", inTurn((index) => (index < 2 ? {} : { status: 500 }))],
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
      "order 9007199254740993 is listed twice",
      list([
        '[{"id":9007199254740993},{"id":9007199',
        '254740992},{"id":90071',
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
    ["the list is compressed", compressed],
    ["body must be array", list("[")],
  ],
  "the Bearer scheme in any case": [gets(401, / b\w+ KEY/)],
  "404 order_not_found for cancelling an order that does not exist": [
    gets(204, cancelsAbsent),
    [
      'code "resource_not_found" instead of',
      when(cancelsAbsent, { body: errorBody("resource_not_found") }),
    ],
  ],
  "404 order_not_found for ids that are not canonical 64-bit integers": [
    "abc",
    "007",
    "1.0",
    "9223372036854775808",
  ].map((id) => gets(400, new RegExp(`/${id} `))),
  "a cancellation that ignores its body": [gets(415, /^DELETE .* \{\} /)],
  "404 resource_not_found for an unknown path, with and without a key": [
    gets(403, / \/nope keyless/),
    ...["/nope", "/nope/1", "/store/orders/1/2", "/store"].map((unknown) =>
      gets(403, new RegExp(` ${unknown} Bearer`)),
    ),
  ],
  "415 for an unexpected content type": [gets(405, / 415$/)],
  "413 for a body of more than 10 MB, from the gateway or from AWS before it": [
    [
      "status 405 instead of 413",
      when(/ 413$/, { status: 405, headers: { "Content-Type": "text/plain" } }),
    ],
    ['code "bad_request" instead of', when(/ 413$/, { body: errorBody("bad_request") })],
  ],
  "405 and Allow for another method on a known path": [
    gets(403, /gzip {2}405$/),
    gets(415, /\{\} 405$/),
    ["must have required property 'allow'", without("Allow", 405)],
    [
      'none allows ["GET"] instead of ["DELETE"]',
      when(/ 405$/, { headers: { Allow: "GET" } }),
    ],
    [
      'orders allows ["GET","PUT"] instead of ["GET"]',
      when(/ 405$/, { headers: { Allow: "PUT, GET" } }),
    ],
  ],
  [`204 for exactly one of 2 cancellations of order ${pendingOrder}, 409 for the rest`]: [
    gets(200, / 204$/),
    ["status 204 instead of 409", when(/ 409$/, cancelled)],
    ["status 500 instead of 204", when(/ 204$/, errorResponse("internal_error"))],
    ["was not pending", inTurn((index) => (index === 0 ? tooLate : cancelled))],
    [
      'code "order_already_shipped"',
      when(/ 409$/, { body: errorBody("order_already_shipped") }),
    ],
  ],
  [racing]: [
    ["2 of 20 got 204", inTurn((index) => (index === 7 ? cancelled : {}))],
  ],
  [throttling]: [
    ["120 requests, 60 at a time, were all let in", (_request, right) => right],
    ["status 400 instead of 404", throttled(afterASecond, errorResponse("bad_request"))],
    ["must have required property 'retry-after'", throttled({})],
  ],
  [slowReading]: [
    ["the body can't be read to its end", hangUp],
    ["the body is not a JSON array", longList(40, "")],
    ["too few to be read for a minute", longList(1, "]")],
  ],
};

const checks = {
  ...smokeChecks(pendingOrder),
  ...smokeChecks(pendingOrder, true, 120),
};

/** Runs a check on a service with a fault, on a clock that only pauses move. */
async function problemOf(check: string, fault = service.fault) {
  service.fault = fault;
  let now = 0;
  const pause = async (milliseconds: number) => {
    now += milliseconds;
  };
  const run = checks[check]?.(service, { now: () => now, pause });
  return String(await run?.catch((error: Error) => error.message));
}

test("the faults break every check", () => {
  expect(new Set(Object.keys(faults))).toEqual(new Set(Object.keys(checks)));
});

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
