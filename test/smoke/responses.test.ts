import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CutOff, type HttpResponse, Warning } from "../../infra/smoke/client.ts";
import { responseProblems } from "../../infra/smoke/document.ts";
import { excerpt } from "../../infra/smoke/expect-response.ts";
import { expectList, readParts } from "../../infra/smoke/list.ts";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";

const json = { "content-type": "application/json", "cache-control": "no-store" };
const listHeaders = { ...json, vary: "Accept-Encoding" };

type Headers = Record<string, string>;

const list = (body: string, headers: Headers = {}): HttpResponse => ({
  status: 200,
  headers: { ...listHeaders, ...headers },
  body,
});
const error = (
  code: ErrorCode,
  headers: Headers = {},
  body = errorBody(code),
): HttpResponse => ({
  status: errors[code].status,
  headers: { ...json, ...headers },
  body,
});

/** What is wrong with the response to a request like `GET /store/orders`. */
function problems(request: string, response: HttpResponse): string {
  const [method = "", path = ""] = request.split(" ");
  return responseProblems(method, path, response).join("\n");
}

const cancellation = "DELETE /store/orders/1";
const lists = "GET /store/orders";
const compressed = { "content-encoding": "gzip", date: "today" };
const documented = /^$/;

test.each<[string, HttpResponse, string | RegExp]>([
  [
    "GET /store/orders?a=b",
    list('[{"id":-9223372036854775808},{}]', compressed),
    documented,
  ],
  [lists, error("too_many_requests", { "retry-after": "1" }), documented],
  ["DELETE /store/orders/", error("method_not_allowed", { allow: "GET" }), documented],
  ["HEAD /nope", { ...error("resource_not_found"), body: "" }, documented],
  [lists, { ...list("[]"), status: 202 }, "status 202"],
  [lists, error("order_already_shipped"), "status 409"],
  ["GET /nope", error("order_not_found"), "code order_not_found"],
  [cancellation, error("resource_not_found"), "code resource_not_found"],
  [lists, { ...list("[]"), headers: json }, "header Vary is missing"],
  [lists, list("[]", { "x-powered-by": "cats" }), "header x-powered-by"],
  [lists, list("[]", { "content-type": "text/json" }), "content type text/json"],
  [
    lists,
    error("unauthorized", { "www-authenticate": "Basic" }),
    "header WWW-Authenticate",
  ],
  [lists, list('{"orders":[]}'), "body must be array"],
  [lists, list('[{"status":1}]'), /body\/0 must NOT have additional properties .*status/],
  [lists, list('[{"id":1'), "body is invalid"],
  [lists, list('[{"id":"1"}]'), "body/0/id must be integer"],
  [lists, list('[{"id":9223372036854775808}]'), "9223372036854775808 is not an int64"],
  [lists, list('[{"quantity":1.0}]'), "1.0 is not an int64"],
  [lists, list('[{"petId":1e3}]'), "1e3 is not an int64"],
  [lists, list('[{"shipDate":"0000-12-01T00:00:00Z"}]'), "shipDate must match format"],
  [lists, list('[{"complete":null}]'), "complete must be boolean"],
  [
    cancellation,
    { status: 204, headers: { "cache-control": "no-store" }, body: "{}" },
    "a body is not documented",
  ],
  [
    cancellation,
    error("order_already_shipped", {}, errorBody("order_not_found")),
    "the body says status 404",
  ],
  [
    cancellation,
    error("order_already_shipped", {}, '{"code":"no","message":"","status":409}'),
    "allowed values",
  ],
  [cancellation, error("order_already_shipped", {}, '{"message":"Conflict"}'), "'code'"],
])("what is wrong with a response to $0: $2", (request, response, reason) => {
  expect(problems(request, response)).toMatch(reason);
});

test.each([
  ["is one line", "a\nb", '"a\\nb"'],
  ["has no key", "x pets_test_0123456789abcdefghij", '"x pets_test_..."'],
  ["has 120 characters, quotes included", "x".repeat(118), `"${"x".repeat(118)}"`],
  ["ends after that", "x".repeat(119), `"${"x".repeat(119)}…`],
])("the excerpt of a body %s", (_, body, quoted) => {
  expect(excerpt(body)).toBe(quoted);
});

async function* inChunks(chunks: Iterable<string>) {
  yield* chunks;
}

/** Reads a text that arrives in chunks of this size. */
const partsOf = (text: string, size = text.length) =>
  Array.fromAsync(
    readParts(inChunks(text.match(new RegExp(`.{1,${size || 1}}`, "gs")) ?? [])),
  );

const size = fc.integer({ min: 1, max: 40 });

describe("a list", () => {
  test("is read to the last digit, however its chunks are split", async () => {
    const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const fields = { id, shipDate: fc.string(), complete: fc.boolean() };
    const order = fc.record(fields, { requiredKeys: [] });
    const text = fc
      .array(order)
      .map((orders) =>
        JSON.stringify(orders, (_name, value) =>
          typeof value === "bigint" ? JSON.rawJSON(String(value)) : value,
        ),
      )
      .filter((json) => !/"[^"]*[{}][^"]*"/.test(json));
    await fc.assert(
      fc.asyncProperty(text, size, async (json, chunk) => {
        const read = await partsOf(json, chunk);
        expect(`[${read.map((part) => part.slice(1, -1)).join(",")}]`).toBe(json);
      }),
    );
  });

  test("that is not a JSON array is rejected, or has a part that isn't", async () => {
    const mistake = fc.constantFrom("{", "}", "[", "]", ",", '"', "{}", "[]", "]}", ",,");
    const right = '[{"a":1},{"b":2},{"c":"}"},{}]';
    await fc.assert(
      fc.asyncProperty(
        fc.nat(right.length),
        mistake,
        size,
        async (index, inserted, chunk) => {
          const wrong = right.slice(0, index) + inserted + right.slice(index);
          fc.pre(!parses(wrong));
          const read = await partsOf(wrong, chunk).catch(() => ["wrong"]);
          expect(read.every(parses)).toBe(false);
        },
      ),
    );
    await expect(partsOf("{}")).rejects.toThrow("not a JSON array");
    for (const wrong of ["", "1", "[", "[]]"])
      expect(await partsOf(wrong)).toEqual([wrong]);
  });

  test.each([
    ["200 MB is cut off by AWS, as far as anyone can tell", 200_000_000, Warning],
    ["less than 200 MB is cut off by a failure", 199_999_999, CutOff],
  ])("of %s", async (_, length, expected) => {
    const megabytes = 10_000_000;
    async function* cutOff() {
      for (let read = 0; read < length; read += megabytes)
        yield `${read === 0 ? "[" : ","}{${" ".repeat(Math.min(megabytes, length - read) - 4)}}`;
    }
    const head = {
      method: "GET",
      path: "/store/orders",
      status: 200,
      headers: listHeaders,
    };
    await expect(expectList({ ...head, text: cutOff() })).rejects.toBeInstanceOf(expected);
  });
});

function parses(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}
