import { expect, test, vi } from "vitest";
import { conclude, concludeLoad, growth, type Usage } from "../helpers/traffic/verdict.ts";

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

/** What a run prints, and its exit code. */
function watched(run: () => void) {
  const { exitCode } = process;
  const print = vi.spyOn(console, "log").mockReturnValue();
  const complain = vi.spyOn(console, "error").mockReturnValue();
  try {
    process.exitCode = 0;
    run();
    return { printed: [...print.mock.calls, ...complain.mock.calls].flat(), exitCode: process.exitCode };
  } finally {
    process.exitCode = exitCode;
    print.mockRestore();
    complain.mockRestore();
  }
}

test("a run with anything wrong, or trouble in the log, exits 1 and shows the first ten things", () => {
  const concluded = (wrong: string[], troubles: string[]) =>
    watched(() => conclude("wrong responses", wrong, troubles));
  expect(concluded([], [])).toEqual({ printed: ["wrong responses: 0"], exitCode: 0 });
  expect(concluded(["200"], [])).toEqual({ printed: ["wrong responses: 1", "200"], exitCode: 1 });
  expect(concluded([], ["a crash"])).toEqual({ printed: ["wrong responses: 1", "a crash"], exitCode: 1 });
  const many = Array.from({ length: 12 }, (_, index) => `wrong ${index}`);
  expect(concluded(many, []).printed).toEqual(["wrong responses: 12", ...many.slice(0, 10)]);
});

test("a load ends with what its clients were sent, and exits 1 when something of it was wrong", () => {
  const clients = { responses: { lines: () => ["9 of 200"] }, histories: { summary: "3 histories" } };
  const ended = (wrong: string[]) => watched(() => concludeLoad("wrong responses", { ...clients, wrong }, ["a crash"]));
  expect(ended([]).printed).toEqual(["9 of 200", "3 histories", "wrong responses: 1", "a crash"]);
  expect(ended(["418"])).toEqual({
    printed: ["9 of 200", "3 histories", "wrong responses: 2", "418", "a crash"],
    exitCode: 1,
  });
});
