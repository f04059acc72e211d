import fc from "fast-check";
import { expect, test } from "vitest";
import { readOrderBatches } from "../../infra/smoke/list.ts";

/** Reads a list that arrives in these chunks. */
const batches = (chunks: string[]) =>
  Array.fromAsync(
    readOrderBatches(
      (async function* () {
        yield* chunks;
      })(),
    ),
  );

/** The text in chunks of this size. */
const split = (text: string, size: number) => text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];

test("a list is read to the last digit, however its chunks are split", async () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const text = fc.constantFrom('"id":1', "},{", '\\"}]', "é😀\n", "");
  const order = fc.record(
    { id: int64, note: fc.oneof(text, fc.string()), nested: fc.object(), complete: fc.boolean() },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(order), fc.integer({ min: 1, max: 40 }), async (orders, size) => {
      const json = JSON.stringify(orders, (_name, value) =>
        typeof value === "bigint" ? JSON.rawJSON(String(value)) : value,
      );
      expect(JSON.stringify((await batches(split(json, size))).flat())).toBe(json);
    }),
  );
});

test("a long list is read in batches of 500 orders", async () => {
  const orders = Array.from({ length: 1001 }, (_, id) => ({ id }));
  const read = await batches(split(JSON.stringify(orders), 100));
  expect(read.map(({ length }) => length)).toEqual([500, 500, 1]);
});

test("a text that is not a JSON array is rejected", async () => {
  const mistake = fc.constantFrom("{", "}", "[", "]", ",", '"', "{}", "[]", "]}", ",,");
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      mistake,
      fc.integer({ min: 1, max: 9 }),
      async (at, inserted, size) => {
        const right = '[{"a":1},{"b":[2,"}"]},{"c":"},"},{}]';
        const index = at % right.length;
        const text = right.slice(0, index) + inserted + right.slice(index);
        fc.pre(!parses(text));
        await expect(batches(split(text, size))).rejects.toThrow();
      },
    ),
  );
  for (const text of ["", "{}", "1", "[", "[]]"]) await expect(batches([text])).rejects.toThrow();
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
