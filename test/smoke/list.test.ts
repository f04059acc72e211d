import fc from "fast-check";
import { expect, test } from "vitest";
import { listParts } from "../../infra/smoke/list.ts";

/** Splits a list that arrives in these chunks into its parts. */
const parts = (chunks: string[]) =>
  Array.fromAsync(
    listParts(
      (async function* () {
        yield* chunks;
      })(),
    ),
  );

/** The text, torn after every so many characters. */
const torn = (text: string, size: number) => text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];

test("the parts of a list are lists, and together all of it", async () => {
  const order = fc.record(
    { id: fc.integer(), shipDate: fc.constant("2026-12-01T09:30:00Z"), complete: fc.boolean() },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(order), fc.integer({ min: 1, max: 40 }), async (orders, size) => {
      const [first = [], ...rest]: unknown[][] = (
        await parts(torn(JSON.stringify(orders), size))
      ).map((part) => JSON.parse(part));
      expect(rest.map(([empty]) => empty)).toEqual(rest.map(() => ({})));
      expect([...first, ...rest.flatMap(([, ...others]) => others)]).toEqual(orders);
    }),
  );
});

test("no part is longer than two chunks and an order", async () => {
  const orders = Array.from({ length: 1000 }, (_, id) => ({ id }));
  for (const part of await parts(torn(JSON.stringify(orders), 100)))
    expect(part.length).toBeLessThan(220);
});

test("the parts of any other text do not all parse", async () => {
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
        expect((await parts(torn(text, size))).every(parses)).toBe(false);
      },
    ),
  );
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
