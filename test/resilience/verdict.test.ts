import { expect, onTestFinished, test, vi } from "vitest";
import { conclude, growth, type Usage } from "../helpers/traffic/verdict.ts";

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

test("a run with anything wrong, or trouble in the log, exits 1 and shows the first ten things", () => {
  const { exitCode } = process;
  const print = vi.spyOn(console, "log").mockReturnValue();
  const complain = vi.spyOn(console, "error").mockReturnValue();
  onTestFinished(() => {
    process.exitCode = exitCode;
    print.mockRestore();
    complain.mockRestore();
  });
  const concluded = (wrong: string[], troubles: string[]) => {
    vi.clearAllMocks();
    process.exitCode = 0;
    conclude("wrong responses", wrong, troubles);
    return { printed: [...print.mock.calls, ...complain.mock.calls].flat(), exitCode: process.exitCode };
  };
  expect(concluded([], [])).toEqual({ printed: ["wrong responses: 0"], exitCode: 0 });
  expect(concluded(["200"], [])).toEqual({ printed: ["wrong responses: 1", "200"], exitCode: 1 });
  expect(concluded([], ["a crash"])).toEqual({ printed: ["wrong responses: 1", "a crash"], exitCode: 1 });
  const many = Array.from({ length: 12 }, (_, index) => `wrong ${index}`);
  expect(concluded(many, []).printed).toEqual(["wrong responses: 12", ...many.slice(0, 10)]);
});
