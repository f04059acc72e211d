import { expect, test } from "vitest";
import { positiveNumber } from "../helpers/positive-number.ts";
import { conclude, concludeLoad, concludeSoak, type Usage } from "../helpers/traffic/verdict.ts";
import { watched } from "../helpers/watched.ts";

const responses = { total: 9, lines: () => ["9 of 200"] };
const none = { total: 0, lines: () => [] };
const clients = { responses, histories: { summary: "3 histories" }, wrong: [] };

/** A run in thirds, each with a spike that a median overlooks. */
const run = (...thirds: Usage[]): Usage[] =>
  thirds.flatMap((usage) => [usage, usage, { memory: 10 * usage.memory, handles: 10 * usage.handles }, usage]);

const soaked = (usages: Usage[]) =>
  watched(() => concludeSoak("wrong", clients, new Map([["the engine", usages]]), ["a crash"]));

test("a soak fails when memory rises by more than a tenth and 5 MB, or handles by more than two", async () => {
  const grew = async (before: Usage, after: Usage) => {
    const { printed } = await soaked(run({ memory: 1, handles: 1 }, before, after));
    return printed.filter((line) => line.startsWith("grew: "));
  };
  const before = { memory: 100, handles: 20 };
  expect(await grew(before, { memory: 115, handles: 22 })).toEqual([]);
  expect(await grew(before, { memory: 116, handles: 20 })).toEqual([
    "grew: the engine: memory 100 in the second third, 116 in the last",
  ]);
  expect(await grew(before, { memory: 100, handles: 23 })).toEqual([
    "grew: the engine: handles 20 in the second third, 23 in the last",
  ]);
});

test("a soak shows each process and what its clients were sent, and a process that was not watched has grown", async () => {
  const lines = ["memory", "handles"].map(
    (what) => `the engine: ${what} undefined in the second third, undefined in the last`,
  );
  expect(await soaked([])).toEqual({
    printed: [...lines, "9 of 200", "3 histories", "wrong: 3", "a crash", ...lines.map((line) => `grew: ${line}`)],
    exitCode: 1,
  });
});

test("a run with anything wrong, or without a response, exits 1 and shows the first ten things", async () => {
  const concluded = (wrong: string[], seen = responses) => watched(() => conclude("wrong responses", seen, wrong));
  expect(await concluded([])).toEqual({ printed: ["wrong responses: 0"], exitCode: 0 });
  expect(await concluded(["200"])).toEqual({ printed: ["wrong responses: 1", "200"], exitCode: 1 });
  expect(await concluded([], none)).toEqual({
    printed: ["wrong responses: 0", "There was no response to check"],
    exitCode: 1,
  });
  const many = Array.from({ length: 12 }, (_, index) => `wrong ${index}`);
  expect((await concluded(many)).printed).toEqual(["wrong responses: 12", ...many.slice(0, 10)]);
});

test("a load ends with what its clients were sent, and exits 1 when something of it was wrong", async () => {
  const ended = (wrong: string[], troubles: string[]) =>
    watched(() => concludeLoad("wrong responses", { ...clients, wrong }, troubles));
  const printed = ["9 of 200", "3 histories"];
  expect(await ended([], [])).toEqual({ printed: [...printed, "wrong responses: 0"], exitCode: 0 });
  expect(await ended([], ["a crash"])).toEqual({ printed: [...printed, "wrong responses: 1", "a crash"], exitCode: 1 });
  expect(await ended(["418"], ["a crash"])).toEqual({
    printed: [...printed, "wrong responses: 2", "418", "a crash"],
    exitCode: 1,
  });
});

test.each(["", "0", "-1", "10m", "Infinity", "NaN"])("a load or a soak takes no time or number like %j", (text) => {
  expect(() => positiveNumber(text)).toThrow("Not a number above 0.");
  expect(positiveNumber("0.5")).toBe(0.5);
});
