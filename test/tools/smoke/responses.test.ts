import { describe, expect, test } from "vitest";
import { CutOff, Warning } from "../../../infra/tools/smoke/client.ts";
import { excerpt, responseProblems } from "../../../infra/tools/smoke/document.ts";
import { expectList, readParts } from "../../../infra/tools/smoke/list.ts";
import { type ErrorCode, errorBody, errors } from "../../../shared/errors.ts";
import type { HttpResponse } from "../../helpers/expect-error.ts";

const json = { "content-type": "application/json", "cache-control": "no-store" };

type Headers = Record<string, string>;

const list = (body: string, headers: Headers = {}): HttpResponse => ({
  status: 200,
  headers: { ...json, vary: "Accept-Encoding", ...headers },
  body,
});
const error = (code: ErrorCode, headers: Headers = {}): HttpResponse => ({
  status: errors[code].status,
  headers: { ...json, ...headers },
  body: errorBody(code),
});

const lists = "GET /store/orders";
const cancellation = "DELETE /store/orders/1";
const anotherError = /^code \w+ is not documented there$/;
const none = /^$/;

test.each([
  [
    `${lists}?a=b`,
    list('[{"id":-9223372036854775808},{}]', { date: "today", "x-amz-cf-id": "1" }),
    none,
  ],
  [lists, list("[]", { "content-encoding": "gzip" }), none],
  ["DELETE /store/orders/", error("method_not_allowed", { allow: "GET" }), none],
  ["HEAD /nope", { ...error("resource_not_found"), body: "" }, none],
  [lists, { ...list("[]"), status: 202 }, /^status 202 is not documented: \[\]$/],
  [lists, error("order_already_shipped"), /^status 409/],
  ["POST /store/orders", error("unauthorized"), /^status 401/],
  ["GET /nope", error("order_not_found"), anotherError],
  [cancellation, error("resource_not_found"), anotherError],
  [
    cancellation,
    { ...error("order_not_found"), status: 409 },
    /^body must be equal to one of the allowed values \[{"code".*: {"code":"order_not_found"/,
  ],
  [
    lists,
    list("[]", { "x-powered-by": "cats" }),
    /^headers must NOT have additional properties "x-powered-by": {/,
  ],
  [
    lists,
    list("[]", { "content-type": "text/json" }),
    /^headers\/content-type must be equal to constant "application\/json": "text\/json"$/,
  ],
  [
    lists,
    list('[{"status":1}]'),
    /^body\/0 must NOT have additional properties .*"status"/,
  ],
  ...["9223372036854775808", "1.0", "1e3"].map((id): [string, HttpResponse, RegExp] => [
    lists,
    list(`[{"id":${id}}]`),
    RegExp(`^body/0/id must be integer "integer": "${id}"$`),
  ]),
  [lists, list('[{"shipDate":"0000-12-01T00:00:00Z"}]'), /shipDate must match format/],
  [
    cancellation,
    { status: 204, headers: { "cache-control": "no-store" }, body: "{}" },
    /^body must be equal to constant/,
  ],
])("what is wrong with a response to %s: %j", (request, response, problems) => {
  const [method = "", path = ""] = request.split(" ");
  expect(responseProblems({ method, path, ...response }).join("\n")).toMatch(problems);
});

test("an excerpt is JSON of up to 120 characters, quotes included, without keys", () => {
  const x = "x".repeat(118);
  const values = ["a\nb", "x pets_test_0123456789abcdefghij", x, `${x}x`, `${x}yz`];
  expect(values.map(excerpt)).toEqual([
    String.raw`"a\nb"`,
    '"x pets_test_..."',
    `"${x}"`,
    `"${x}x…`,
    `"${x}y…`,
  ]);
});

const partsOf = (text: string, size: number) =>
  Array.fromAsync(
    readParts(ReadableStream.from(text.match(RegExp(`.{1,${size}}`, "gs")) ?? [])),
  );

describe("a list", () => {
  test("is read to the last digit, however its chunks are split", async () => {
    const json =
      '[{"id":-9223372036854775808,"complete":true},{},{"id":9223372036854775807}]';
    for (const text of ["[]", "[{}]", json]) {
      for (let size = 1; size <= text.length; size += 1) {
        const read = await partsOf(text, size);
        expect(`[${read.map((part) => part.slice(1, -1)).join(",")}]`).toBe(text);
      }
    }
  });

  const mistakes = ["{", "}", "[", "]", ",", '"', "{}", "[]", "]}", ",,"];
  const lists = ["[]", '[{"a":1},{"b":2},{"c":"}"},{}]'];
  test.each(lists.flatMap((right) => mistakes.map((mistake) => [right, mistake])))(
    "like %s with %s too many is rejected, or has a wrong part",
    async (right, mistake) => {
      for (let index = 0; index <= right.length; index += 1) {
        const wrong = right.slice(0, index) + mistake + right.slice(index);
        for (const size of isList(wrong) ? [] : [1, 3, 40]) {
          const read = await partsOf(wrong, size).catch(() => ["wrong"]);
          expect(read.every(isList), wrong).toBe(false);
        }
      }
    },
  );

  test.each([
    [195_000_000, 0, true],
    [194_999_999, 0, false],
    [7, 840_000, true],
    [7, 839_999, false],
  ])("of %i characters that is cut off after %i ms", async (length, time, isAtLimit) => {
    const most = 10_000_000;
    async function* cutOff() {
      for (let read = 0; read < length; read += most)
        yield `${read === 0 ? "[" : ","}{${" ".repeat(Math.min(most, length - read) - 4)}}`;
    }
    let now = 0;
    const clock = { now: () => (now += time), pause: async () => {} };
    const response = {
      ...list(""),
      method: "GET",
      path: "/store/orders",
      text: cutOff(),
    };
    const limits = "as are all lists beyond 199 MB or 15 minutes";
    await expect(expectList(response, clock)).rejects.toEqual(
      isAtLimit
        ? new Warning(`cut off after ${length} characters, ${limits}`)
        : new CutOff("the body is not a JSON array: it has no end"),
    );
  });
});

function isList(json: string) {
  try {
    return Array.isArray(JSON.parse(json));
  } catch {
    return false;
  }
}
