import { expect, test } from "vitest";
import { growth, type Usage, verdict } from "../helpers/traffic/verdict.ts";

/** A run in thirds, each with a spike that a median overlooks. */
const run = (...thirds: Usage[]): Usage[] =>
  thirds.flatMap((usage) => [usage, usage, { memory: 10 * usage.memory, handles: 10 * usage.handles }, usage]);
const grew = (before: Usage, after: Usage): boolean[] =>
  growth("the engine", run({ memory: 1, handles: 1 }, before, after)).map((part) => part.grew);

test("a process grows when its memory rises by more than a tenth and 5 MB, or its handles by more than two", () => {
  const before = { memory: 100, handles: 20 };
  expect(grew(before, { memory: 115, handles: 22 })).toEqual([false, false]);
  expect(grew(before, { memory: 116, handles: 20 })).toEqual([true, false]);
  expect(grew(before, { memory: 100, handles: 23 })).toEqual([false, true]);
});

test("a process that was not watched long enough has not been seen to stay as it is", () => {
  expect(growth("a function", []).map((part) => part.grew)).toEqual([true, true]);
});

test("a run with anything wrong exits 1, and shows the first ten things", () => {
  const wrong = Array.from({ length: 12 }, (_, index) => `wrong ${index}`);
  expect(verdict("wrong responses", wrong)).toEqual({
    lines: ["wrong responses: 12", ...wrong.slice(0, 10)],
    exitCode: 1,
  });
  expect(verdict("wrong responses", [])).toEqual({ lines: ["wrong responses: 0"], exitCode: 0 });
});
