import fc from "fast-check";
import { expect, test } from "vitest";
import { CutOff, Warning } from "../../infra/smoke/client.ts";
import { expectList, readParts } from "../../infra/smoke/list.ts";
import { listHeaders } from "./tiny-service.ts";

/** Reads a list that arrives in these chunks. */
const parts = (chunks: string[]) =>
  Array.fromAsync(
    readParts(
      (async function* () {
        yield* chunks;
      })(),
    ),
  );

/** The text in chunks of this size. */
const split = (text: string, size: number) => text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const order = fc.record(
  { id: int64, shipDate: fc.string(), complete: fc.boolean() },
  { requiredKeys: [] },
);
const text = fc
  .array(order)
  .map((orders) =>
    JSON.stringify(orders, (_name, value) =>
      typeof value === "bigint" ? JSON.rawJSON(String(value)) : value,
    ),
  );
const size = fc.integer({ min: 1, max: 40 });

test("a list is read to the last digit, however its chunks are split", async () => {
  const flat = text.filter((json) => !/"[^"]*[{}][^"]*"/.test(json));
  await fc.assert(
    fc.asyncProperty(flat, size, async (json, chunk) => {
      const read = await parts(split(json, chunk));
      const whole = read.map((part) => part.slice(1, -1)).join(",");
      expect(`[${whole}]`).toBe(json);
    }),
  );
});

test("a text that is not a JSON array is rejected, or has a part that isn't", async () => {
  const mistake = fc.constantFrom("{", "}", "[", "]", ",", '"', "{}", "[]", "]}", ",,");
  await fc.assert(
    fc.asyncProperty(fc.nat(), mistake, size, async (at, inserted, chunk) => {
      const right = '[{"a":1},{"b":2},{"c":"}"},{}]';
      const index = at % right.length;
      const wrong = right.slice(0, index) + inserted + right.slice(index);
      fc.pre(!parses(wrong));
      const read = await parts(split(wrong, chunk)).catch(() => ["wrong"]);
      expect(read.every(parses)).toBe(false);
    }),
  );
  await expect(parts(["{}"])).rejects.toThrow("not a JSON array");
  for (const wrong of ["", "1", "[", "[]]"]) expect(await parts([wrong])).toEqual([wrong]);
});

function parses(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ["200 MB is cut off by AWS, as far as anyone can tell", 200_000_000, Warning],
  ["less than 200 MB is cut off by a failure", 199_999_999, CutOff],
])("a list of %s", async (_, length, expected) => {
  const megabytes = 10_000_000;
  async function* cutOff() {
    for (let read = 0; read < length; read += megabytes)
      yield `${read === 0 ? "[" : ","}{${" ".repeat(Math.min(megabytes, length - read) - 4)}}`;
  }
  const headers = Object.fromEntries(
    Object.entries(listHeaders).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const list = { method: "GET", path: "/store/orders", status: 200, headers, text: cutOff() };
  await expect(expectList(list)).rejects.toBeInstanceOf(expected);
});
