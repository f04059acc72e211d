import { errorBody } from "../../../shared/errors.ts";
import { type Fault, listHeaders, pendingOrder, type TinyRequest, type TinyResponse } from "./tiny-service.ts";

const when =
  (condition: (...exchange: Parameters<Fault>) => boolean, change: Partial<TinyResponse>): Fault =>
  (request, right) =>
    condition(request, right) ? { ...right, ...change, headers: { ...right.headers, ...change.headers } } : right;
const status = (expected: number, change: Partial<TinyResponse>): Fault =>
  when((_request, right) => right.status === expected, change);
/** Changes the responses to requests that were sent before, with the same well-formed key. */
const secondTime = (change: Partial<TinyResponse>): Fault => {
  const sent = new Set<string>();
  return ({ method, path, key = "" }, right) => {
    const before = sent.size;
    if (key.startsWith("pets_")) sent.add(`${method} ${path} ${key}`);
    return right.status === 401 && key.startsWith("pets_") && sent.size === before ? { ...right, ...change } : right;
  };
};
/** Leaves a header out of the responses with a status. */
export const without =
  (header: string, expected: number): Fault =>
  (_request, right) => {
    if (right.status !== expected) return right;
    const { [header]: _, ...headers } = right.headers;
    return { ...right, headers };
  };
export const list = (body: TinyResponse["body"]): Fault => status(200, { body });
const cancelsAbsent = ({ path }: TinyRequest): boolean => path.startsWith("/store/orders/-");
const emptyList: TinyResponse = { status: 200, headers: listHeaders, body: "[]" };

const keyless = "401 without a key";
const malformed = "401 for a malformed key";
const unissued = "401 for a key that was never issued";
const listed = "200 and an array of orders";
const plain = "an uncompressed list";
const anyCase = "the Bearer scheme in any case";
const absent = "404 order_not_found for cancelling an order that does not exist";
const notAnId = (id: string) => `404 order_not_found for cancelling ${id}, which`;
const withBody = "a cancellation that ignores its body";
const unknownPath = "404 resource_not_found";
const otherMethod = "405 and Allow";
const wrongType = "415 for an unexpected";
const tooLarge = "413 for a body";
const cancelled = "204 for cancelling";

/** Services that break a promise: the promise, how it is broken, and what the smoke test says about that. */
export const faults: [promise: string, seen: string, fault: Fault][] = [
  [keyless, "status 200 instead of 401", when(({ key, path }) => !key && path === "/store/orders", emptyList)],
  [keyless, "header WWW-Authenticate is missing", without("WWW-Authenticate", 401)],
  [keyless, "must have required property 'code'", status(401, { body: '{"message":"Unauthorized"}' })],
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
  [malformed, "status 500 instead of 401", when(({ key, apiKey }) => key === `${apiKey}0`, { status: 500 })],
  [unissued, "status 500 instead of 401", secondTime({ status: 500 })],
  [
    unissued,
    "status 200 instead of 401",
    when(({ key }, { status }) => /^pets/.test(key ?? "") && status === 401, emptyList),
  ],
  [listed, 'status 500 instead of 200, with the body "on fire"', status(200, { status: 500, body: "on fire" })],
  [listed, "header Cache-Control is missing", without("Cache-Control", 200)],
  [listed, "body must be array", list('{"orders":[]}')],
  [listed, "Unexpected end of JSON input", list("")],
  [listed, "SyntaxError", list('[{"id":1}')],
  [listed, "SyntaxError", list('[{"id":1},')],
  [listed, "SyntaxError", list('[{"id":1},]')],
  [listed, "SyntaxError", list('[,{"id":1}]')],
  [listed, "SyntaxError", list("[{}],[{}]")],
  [listed, "body/0 must be object", list("[1]")],
  [listed, "body/0 must be object", list("[[]]")],
  [listed, "body/1/complete must be boolean", list(['[{"id":1},{"id":2}', ",", '{"id":3,"complete":1}]'])],
  [listed, "order 1 is listed twice", list('[{"id":1},{"id":1}]')],
  [listed, "order -1 is listed twice", list('[{"id":-1},{"id":-1}]')],
  [listed, "order 9223372036854775806 is listed twice", list(twice("9223372036854775806"))],
  [listed, `order ${pendingOrder} is not listed`, list("[]")],
  [listed, `order ${pendingOrder} is not listed`, list('[{"id":9223372036854775806}]')],
  [listed, "can't be read to its end: terminated", (_request, right) => (right.status === 200 ? "hang up" : right)],
  [listed, "incorrect header check", status(200, { headers: { "Content-Encoding": "gzip" } })],
  [listed, "a list of 100001 characters is not compressed", list(`${`[{"id":${pendingOrder}}`.padEnd(100_000)}]`)],
  [plain, 'Content-Encoding is "gzip"', status(200, { headers: { "Content-Encoding": "gzip" } })],
  [plain, "SyntaxError", when(({ headers }) => headers["accept-encoding"] === "identity", { body: "[" })],
  [
    anyCase,
    "status 401 instead of 404",
    when(({ headers }) => headers.authorization?.startsWith("b") ?? false, { status: 401 }),
  ],
  [absent, "status 204 instead of 404", when(cancelsAbsent, { status: 204, body: "" })],
  [
    absent,
    "code resource_not_found instead of order_not_found",
    when(cancelsAbsent, { body: errorBody("resource_not_found") }),
  ],
  ...["abc", "007", "1.0", "9223372036854775808"].map((id): [string, string, Fault] => [
    notAnId(id),
    "status 400 instead of 404",
    when(({ path }) => path.endsWith(`/${id}`), { status: 400 }),
  ]),
  [
    withBody,
    "status 415 instead of 404",
    when(({ method, body }) => method === "DELETE" && body !== "", { status: 415 }),
  ],
  [unknownPath, "status 403 instead of 404", when(({ path, key }) => path === "/nope" && !key, { status: 403 })],
  [unknownPath, "status 403 instead of 404", when(({ path, key }) => path === "/nope" && !!key, { status: 403 })],
  [unknownPath, "status 403 instead of 404", when(({ path }) => path === "/store", { status: 403 })],
  [unknownPath, "status 403 instead of 404", when(({ path }) => path === "/nope/1", { status: 403 })],
  [unknownPath, "status 403 instead of 404", when(({ path }) => path.endsWith("/1/2"), { status: 403 })],
  [wrongType, "status 405 instead of 415", status(415, { status: 405 })],
  [tooLarge, "status 405 instead of 413", status(413, { status: 405, headers: { "Content-Type": "text/plain" } })],
  [tooLarge, "code bad_request", status(413, { body: '{"code":"bad_request","message":"","status":413}' })],
  [
    otherMethod,
    "status 403 instead of 405",
    when(({ body }, { status }) => body === "" && status === 405, { status: 403 }),
  ],
  [otherMethod, "header Allow is missing", without("Allow", 405)],
  [otherMethod, 'Allow is "GET"', when(({ path }) => path.endsWith("/none"), { headers: { Allow: "GET" } })],
  [otherMethod, 'Allow is "x"', when((sent) => sent.path === "/store/orders", { headers: { Allow: "x" } })],
  [
    otherMethod,
    "status 415 instead of 405",
    when(({ body }, { status }) => body === "{}" && status === 405, { status: 415 }),
  ],
  [cancelled, "status 200 instead of 204", status(204, { status: 200 })],
  [cancelled, "header Cache-Control is missing", without("Cache-Control", 204)],
  [cancelled, "status 204 instead of 409", status(409, { status: 204, body: "" })],
  [
    cancelled,
    "code order_already_shipped",
    status(409, { body: '{"code":"order_already_shipped","message":"","status":409}' }),
  ],
];

/** A list with an order at both ends, in chunks that tear strings and numbers apart. */
function twice(id: string): string[] {
  const orders = Array.from({ length: 1000 }, (_, index) => `{"id":${index},"shipDate":"2026-12-01T09:00:00Z"}`);
  return `[{"id":${id}},${orders.join()},{"id":${id}}]`.match(/.{1,700}/gs) ?? [];
}
