import fc from "fast-check";
import { expect, test } from "vitest";
import { arrayParts } from "../../infra/smoke/list.ts";

/** Splits a text that arrives in these chunks into its parts. */
const parts = (chunks: string[]) =>
  Array.fromAsync(
    arrayParts(
      (async function* () {
        yield* chunks;
      })(),
    ),
  );

/** The text, torn after every so many characters. */
const torn = (text: string, size: number) => text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];

test("the parts of an array are arrays, and together all of it", async () => {
  const marks = ['"', ",", "[", "]", "{", "}", "a"];
  const string = fc.string({ unit: fc.constantFrom("\\", ...marks) });
  // Once Node.js has read an object with the name "\\", it may read "\"" and "\n" as "\\" too: nodejs/node#63785.
  const name = fc.string({ unit: fc.constantFrom(...marks) });
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      string,
      fc.integer(),
      fc.array(tie("value")),
      fc.dictionary(name, tie("value")),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(fc.array(value), fc.integer({ min: 1, max: 40 }), async (array, size) => {
      const arrays: unknown[][] = (await parts(torn(JSON.stringify(array), size))).map((part) => JSON.parse(part));
      expect(arrays.flat(1)).toEqual(array);
      expect(arrays.filter(({ length }) => length === 0)).toHaveLength(array.length === 0 ? 1 : 0);
    }),
  );
});

test("the parts of any other text do not all parse, or one is empty", async () => {
  const mistake = fc.constantFrom("{", "}", "[", "]", ",", '"', "{}", "[]", "]}", ",,");
  await fc.assert(
    fc.asyncProperty(fc.nat(), mistake, fc.integer({ min: 1, max: 9 }), async (at, inserted, size) => {
      const right = '[{"a":1},{"b":[2,"}"]},{}]';
      const index = at % right.length;
      const text = right.slice(0, index) + inserted + right.slice(index);
      fc.pre(!parses(text));
      const found = await parts(torn(text, size));
      expect(found.every(parses) && found.every((part) => JSON.parse(part).length > 0)).toBe(false);
    }),
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
