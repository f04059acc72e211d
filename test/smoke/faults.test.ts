import { describe, expect, test } from "vitest";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import { systemClock } from "../../shared/clock.ts";
import { errorBody } from "../../shared/errors.ts";
import { type Fault, type TinyResponse, when, whenStatus, without } from "./faults.ts";
import { listHeaders, pendingOrder, tinyServiceForEachTest } from "./tiny-service.ts";

const service = tinyServiceForEachTest();

/** Changes the responses to requests that were sent before, with the same well-formed key. */
const secondTime = (change: Partial<TinyResponse>): Fault => {
  const sent = new Set<string>();
  return when(({ method, key = "" }, { status }) => {
    const before = sent.size;
    if (status === 401 && key.startsWith("pets_")) sent.add(`${method} ${key}`);
    return status === 401 && key.startsWith("pets_") && sent.size === before;
  }, change);
};
const list = (body: TinyResponse["body"]): Fault => whenStatus(200, { body });
const cancelsAbsent: Parameters<typeof when>[0] = ({ path }) => path.startsWith("/store/orders/-");
const emptyList: TinyResponse = { status: 200, headers: listHeaders, body: "[]" };

/** A list with an order at both ends, in chunks that split strings and numbers. */
function twice(id: string): string[] {
  const orders = Array.from(
    { length: 1000 },
    (_, index) => `{"id":${index},"shipDate":"2026-12-01T09:00:00Z"}`,
  );
  return `[{"id":${id}},${orders.join()},{"id":${id}}]`.match(/.{1,700}/gs) ?? [];
}

/**
 * Services that break a promise: by how the promise begins, what the smoke test says, and how it is
 * broken.
 */
const faults: Record<string, [seen: string, fault: Fault][]> = {
  "401 without a key": [
    [
      "status 200 instead of 401",
      when(({ key, path }) => !key && path === "/store/orders", emptyList),
    ],
    [
      "status 403 instead of 401",
      when(({ method, key }) => !key && method === "DELETE", { status: 403 }),
    ],
    ["header WWW-Authenticate is missing", without("WWW-Authenticate", 401)],
    ["must have required property 'code'", whenStatus(401, { body: '{"message":"Unauthorized"}' })],
  ],
  "401 for a malformed key": [
    ["status 200 instead of 401", when(({ key }) => key === "no-key", emptyList)],
    ["status 500 instead of 401", when(({ key }) => key === "bm86a2V5", { status: 500 })],
    ["status 500 instead of 401", when(({ key, apiKey }) => key === `${apiKey}0`, { status: 500 })],
    [
      "status 500 instead of 401",
      when(({ key, apiKey }) => key?.slice(0, -1) === apiKey.slice(0, -1) && key !== apiKey, {
        status: 500,
      }),
    ],
  ],
  "401 for a key that was never issued": [
    ["status 500 instead of 401", secondTime({ status: 500 })],
    [
      "status 200 instead of 401",
      when(({ key = "" }, { status }) => /^pets/.test(key) && status === 401, emptyList),
    ],
  ],
  "200 and an array of orders": [
    [
      'status 500 instead of 200, with the body "on fire"',
      whenStatus(200, { status: 500, body: "on fire" }),
    ],
    ["header Cache-Control is missing", without("Cache-Control", 200)],
    ["the body is not a JSON array", list('{"orders":[]}')],
    ["body is invalid: SyntaxError", list("")],
    ["the body is not a JSON array", list('[{"id":1},]')],
    ["body/0 must be object", list("[1]")],
    ['must be object {"type":"object"}; and 995 more', list(`[${Array(1000).fill(1)}]`)],
    [
      "body/2/complete must be boolean",
      list(['[{"id":1},{"id":2}', ",", '{"id":3,"complete":1}]']),
    ],
    ["order -1 is listed twice", list('[{"id":-1},{"id":-1}]')],
    ["order 9223372036854775806 is listed twice", list(twice("9223372036854775806"))],
    [`order ${pendingOrder} is not listed`, list('[{"id":9223372036854775806}]')],
    [
      "can't be read to its end: aborted",
      (_request, right) => (right.status === 200 ? "hang up" : right),
    ],
    ["incorrect header check", whenStatus(200, { headers: { "Content-Encoding": "gzip" } })],
    ["characters is not compressed", list(`[{"id":${pendingOrder}}${",{}".repeat(34_000)}]`)],
  ],
  "the beginning of an uncompressed list": [
    ['Content-Encoding is "gzip"', whenStatus(200, { headers: { "Content-Encoding": "gzip" } })],
    ["body is invalid: SyntaxError", list("[")],
  ],
  "the Bearer scheme in any case": [
    [
      "status 401 instead of 404",
      when(({ headers }) => /^b/.test(headers.authorization ?? ""), { status: 401 }),
    ],
  ],
  "404 order_not_found for cancelling an order that does not exist": [
    ["status 204 instead of 404", when(cancelsAbsent, { status: 204, body: "" })],
    [
      "code resource_not_found instead of",
      when(cancelsAbsent, { body: errorBody("resource_not_found") }),
    ],
  ],
  ...Object.fromEntries(
    ["abc", "007", "1.0", "9223372036854775808"].map((id) => [
      `404 order_not_found for cancelling ${id}, which`,
      [["status 400 instead of 404", when(({ path }) => path.endsWith(`/${id}`), { status: 400 })]],
    ]),
  ),
  "a cancellation that ignores its body": [
    [
      "status 415 instead of 404",
      when(({ method, body }) => method === "DELETE" && body !== "", { status: 415 }),
    ],
  ],
  "404 resource_not_found": [
    [
      "status 403 instead of 404",
      when(({ path, key }) => path === "/nope" && !key, { status: 403 }),
    ],
    ...["/nope", "/nope/1", "/store/orders/1/2", "/store"].map((unknown): [string, Fault] => [
      "status 403 instead of 404",
      when(({ path, key }) => path === unknown && !!key, { status: 403 }),
    ]),
  ],
  "415 for an unexpected": [["status 405 instead of 415", whenStatus(415, { status: 405 })]],
  "413 for a body": [
    [
      "status 405 instead of 413",
      whenStatus(413, { status: 405, headers: { "Content-Type": "text/plain" } }),
    ],
    [
      "code bad_request",
      whenStatus(413, { body: '{"code":"bad_request","message":"","status":413}' }),
    ],
  ],
  "405 and Allow": [
    [
      "status 403 instead of 405",
      when(({ body }, { status }) => body === "" && status === 405, { status: 403 }),
    ],
    [
      "status 415 instead of 405",
      when(({ body }, { status }) => body === "{}" && status === 405, { status: 415 }),
    ],
    ["header Allow is missing", without("Allow", 405)],
    ['Allow is "GET"', when(({ path }) => path.endsWith("/none"), { headers: { Allow: "GET" } })],
    [
      'Allow is "GET, PUT"',
      when((sent) => sent.path === "/store/orders", { headers: { Allow: "GET, PUT" } }),
    ],
  ],
  "204 for cancelling": [
    ["status 200 instead of 204", whenStatus(204, { status: 200 })],
    ["header Cache-Control is missing", without("Cache-Control", 204)],
    ["status 204 instead of 409", whenStatus(409, { status: 204, body: "" })],
    ["code order_already_shipped", whenStatus(409, { body: errorBody("order_already_shipped") })],
  ],
};

describe.each(Object.entries(faults))("the smoke test's check: %s", (start, broken) => {
  test.each(broken)("fails with: %s", async (seen, fault) => {
    service.fault = fault;
    const checks = Object.entries(smokeChecks(pendingOrder)).filter(([name]) =>
      name.startsWith(start),
    );
    expect(checks).toHaveLength(1);
    const problem = await checks[0]?.[1](service, systemClock).catch(
      (error: Error) => error.message,
    );
    expect(problem).toContain(seen);
    expect(problem).not.toContain(service.apiKey);
  });
});

test("every check of the smoke test has been seen to fail", () => {
  const names = Object.keys(smokeChecks(pendingOrder));
  expect(
    names.filter((name) => !Object.keys(faults).some((start) => name.startsWith(start))),
  ).toEqual([]);
});
