import type { Fault, TinyAnswer } from "./tiny-service.ts";

const when =
  (condition: (request: Parameters<Fault>[0], right: TinyAnswer) => boolean, change: Partial<TinyAnswer>): Fault =>
  (request, right) =>
    condition(request, right) ? { ...right, ...change, headers: { ...right.headers, ...change.headers } } : right;
const status =
  (expected: number, change: Partial<TinyAnswer>): Fault =>
  (request, right) =>
    when(() => right.status === expected, change)(request, right);
/** Leaves a header out of the answers with a status. */
export const without =
  (header: string, expected: number): Fault =>
  (_request, right) => {
    if (right.status !== expected) return right;
    const { [header]: _, ...headers } = right.headers;
    return { ...right, headers };
  };
const list = (body: string): Fault => status(200, { body });
const emptyList: TinyAnswer = {
  status: 200,
  headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
  body: "[]",
};

const keyless = "401 for a request without a key";
const malformed = "401 for a malformed key";
const unissued = "401 for a key that nobody issued";
const listed = "200 with a bare array of Orders";
const plain = "the list uncompressed";
const anyCase = "a key's scheme in any case";
const absent = "404 order_not_found for cancelling an order that does not exist";
const noInt64 = (id: string) => `404 order_not_found for cancelling ${id}, which`;
const unknownPath = "404 resource_not_found";
const otherMethod = "405 with Allow";
const cancelled = "204 without a body";

/** A service that breaks a promise, by what it breaks and what is said of it. */
export const faults: [promise: string, seen: string, fault: Fault][] = [
  [keyless, "status 200 instead of 401", when(({ key, path }) => !key && path === "/store/orders", emptyList)],
  [keyless, "no header WWW-Authenticate", without("WWW-Authenticate", 401)],
  [keyless, 'the header WWW-Authenticate is "Basic"', status(401, { headers: { "WWW-Authenticate": "Basic" } })],
  [keyless, "no Error record", status(401, { body: '{"message":"Unauthorized"}' })],
  [keyless, "no JSON object", status(401, { body: "Unauthorized" })],
  [keyless, "the body's status is 403", status(401, { body: '{"code":"unauthorized","message":"","status":403}' })],
  [keyless, "the code is no_key", status(401, { body: '{"code":"no_key","message":"","status":401}' })],
  [keyless, "no Error record", status(401, { body: '{"code":"unauthorized","message":"","status":401,"x":1}' })],
  [keyless, 'Content-Type is "text/plain"', status(401, { headers: { "Content-Type": "text/plain" } })],
  [
    keyless,
    "status 403 instead of 401",
    when(({ method }, { status }) => method === "DELETE" && status === 401, { status: 403 }),
  ],
  [malformed, "status 200 instead of 401", when(({ key }) => key === "no-key", emptyList)],
  [malformed, "status 500 instead of 401", when(({ key }) => key === "bm86a2V5", { status: 500 })],
  [
    malformed,
    "status 500 instead of 401",
    when(({ key, apiKey }) => key?.slice(0, -1) === apiKey.slice(0, -1) && key !== apiKey, { status: 500 }),
  ],
  [
    unissued,
    "status 200 instead of 401",
    when(({ key }, { status }) => /^pets/.test(key ?? "") && status === 401, emptyList),
  ],
  [listed, "status 500 instead of 200", status(200, { status: 500 })],
  [listed, "no header Cache-Control", without("Cache-Control", 200)],
  [listed, 'Content-Type is "text/json"', status(200, { headers: { "Content-Type": "text/json" } })],
  [listed, "no array", list('{"orders":[]}')],
  [listed, "no JSON", list('[{"id":1}')],
  [listed, "an element is no Order", list("[1]")],
  [listed, "an element is no Order", list("[[]]")],
  [listed, 'the field "status"', list('[{"id":1,"status":"pending"}]')],
  [listed, 'the id "9223372036854775808"', list('[{"id":9223372036854775808}]')],
  [listed, "the id", list('[{"id":"1"}]')],
  [listed, 'the petId "1.5"', list('[{"petId":1.5}]')],
  [listed, 'the quantity "1e3"', list('[{"quantity":1e3}]')],
  [listed, "the shipDate", list('[{"shipDate":"2026-02-30T00:00:00Z"}]')],
  [listed, 'the complete "1"', list('[{"complete":1}]')],
  [listed, "the order 1 is there twice", list('[{"id":1},{"id":1}]')],
  [listed, "aborted", (_request, right) => (right.status === 200 ? "hang up" : right)],
  [listed, "incorrect header check", status(200, { headers: { "Content-Encoding": "gzip" } })],
  [plain, 'it is "br"', status(200, { headers: { "Content-Encoding": "br" } })],
  [anyCase, "status 401 instead of 200", () => ({ ...emptyList, status: 401 })],
  [
    absent,
    "status 204 instead of 404",
    when(({ path }) => path.startsWith("/store/orders/-"), { status: 204, body: "" }),
  ],
  ...["abc", "007", "1.0", "9223372036854775808"].map((id): [string, string, Fault] => [
    noInt64(id),
    "status 400 instead of 404",
    when(({ path }) => path.endsWith(`/${id}`), { status: 400 }),
  ]),
  [unknownPath, "status 403 instead of 404", when(({ path, key }) => path === "/nope" && !key, { status: 403 })],
  [unknownPath, "status 403 instead of 404", when(({ path, key }) => path === "/nope" && !!key, { status: 403 })],
  [unknownPath, "status 403 instead of 404", when(({ path }) => path === "/store", { status: 403 })],
  [otherMethod, "status 403 instead of 405", status(405, { status: 403 })],
  [otherMethod, "no header Allow", without("Allow", 405)],
  [otherMethod, 'Allow is "GET"', when(({ path }) => path.endsWith("/1"), { headers: { Allow: "GET" } })],
  [otherMethod, "status 415 instead of 405", when(({ method }) => method === "POST", { status: 415 })],
  [cancelled, "status 200 instead of 204", status(204, { status: 200 })],
  [cancelled, "status 204 instead of 409", status(409, { status: 204, body: "" })],
  [
    cancelled,
    "the code is order_already_shipped",
    status(409, { body: '{"code":"order_already_shipped","message":"","status":409}' }),
  ],
  [cancelled, "not in the list any more", list("[]")],
];
