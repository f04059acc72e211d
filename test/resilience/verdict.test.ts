import { Command, type Option } from "commander";
import { describe, expect, test, vi } from "vitest";
import { positiveNumber, wholeNumber } from "../helpers/number-options.ts";
import {
  conclude,
  type Findings,
  loadFindings,
  sampleUsage,
  soakFindings,
  type Usage,
} from "../helpers/traffic/verdict.ts";
import { watched } from "../helpers/watched.ts";

const responses = { total: 9, lines: () => ["9 of 200"] };
const clients = { responses, histories: { summary: "3 histories" }, wrong: ["418"] };

/** A run in thirds, each with a spike that a median overlooks. */
const run = (...thirds: Usage[]): Usage[] =>
  thirds.flatMap((usage) => [usage, usage, { memory: 10 * usage.memory, handles: 10 * usage.handles }, usage]);

const soaked = (usages: Usage[]) => soakFindings("wrong", clients, new Map([["the engine", usages]]));

test("a soak fails when memory rises by more than a tenth and 5 MB, or handles by more than two", () => {
  const grew = (before: Usage, after: Usage) =>
    soaked(run({ memory: 1, handles: 1 }, before, after)).wrong.filter((line) => line.startsWith("grew: "));
  const before = { memory: 100, handles: 20 };
  expect(grew(before, { memory: 115, handles: 22 })).toEqual([]);
  expect(grew(before, { memory: 116, handles: 20 })).toEqual([
    "grew: the engine: memory 100 in the second third, 116 in the last",
  ]);
  expect(grew(before, { memory: 100, handles: 23 })).toEqual([
    "grew: the engine: handles 20 in the second third, 23 in the last",
  ]);
});

test("a soak shows each process and what its clients were sent, and a process that was not watched has grown", () => {
  const lines = ["memory", "handles"].map(
    (what) => `the engine: ${what} undefined in the second third, undefined in the last`,
  );
  expect(soaked([])).toEqual({
    summary: "wrong",
    lines: [...lines, "9 of 200", "3 histories"],
    responses: 9,
    wrong: ["418", ...lines.map((line) => `grew: ${line}`)],
  });
});

test("a soak samples every process sixty times, over as many minutes as asked for", async () => {
  const waits: number[] = [];
  const use = async (): Promise<[string, Usage][]> => [["the engine", { memory: waits.length, handles: 1 }]];
  const sampled = await sampleUsage(10, use, async (milliseconds) => void waits.push(milliseconds));
  expect(waits).toEqual(Array(60).fill(10_000));
  expect(sampled.get("the engine")?.map(({ memory }) => memory)).toEqual(waits.map((_, at) => at + 1));
});

test("a load shows what its clients were sent, and what was wrong of it", () => {
  expect(loadFindings("wrong", clients)).toEqual({
    summary: "wrong",
    lines: ["9 of 200", "3 histories"],
    responses: 9,
    wrong: ["418"],
  });
});

describe("a run of traffic", () => {
  const found: Findings = { summary: "wrong responses", lines: ["9 of 200"], responses: 9, wrong: [] };

  /** Concludes with these findings of a stack that logs this. */
  const concluded = (changes: Partial<Findings>, logged: string[] = []) => {
    const start = async (log: (line: string) => void) => {
      for (const line of logged) log(line);
      return { stop: async () => console.log("stopped") };
    };
    return watched(() => conclude(start, async () => ({ ...found, ...changes })));
  };

  test("exits 0 when nothing is wrong, and stops its stack", async () => {
    const rejected = '{"level":"ERROR","message":{"errorMessage":"Unauthorized"}}';
    expect(await concluded({}, [rejected])).toEqual({
      printed: ["9 of 200", "wrong responses: 0", "stopped"],
      exitCode: 0,
    });
  });

  test("exits 1 for what clients found wrong and for the trouble that the stack logged", async () => {
    expect(await concluded({ wrong: ["418"] }, ["a crash"])).toEqual({
      printed: ["9 of 200", "wrong responses: 2", "stopped", "418", "a crash"],
      exitCode: 1,
    });
    expect(await concluded({}, ["a crash"])).toMatchObject({ exitCode: 1 });
  });

  test("exits 1 without a response", async () => {
    expect(await concluded({ lines: [], responses: 0 })).toEqual({
      printed: ["wrong responses: 0", "stopped", "There was no response to check"],
      exitCode: 1,
    });
  });

  test("shows the first ten things that are wrong", async () => {
    const wrong = Array.from({ length: 12 }, (_, index) => `wrong ${index}`);
    const { printed } = await concluded({ wrong });
    expect(printed).toEqual(["9 of 200", "wrong responses: 12", "stopped", ...wrong.slice(0, 10)]);
  });

  test("that fails stops its stack", async () => {
    const stop = vi.fn(async () => {});
    const failing = conclude(
      async () => ({ stop }),
      () => Promise.reject(new Error("a wrong response")),
    );
    await expect(failing).rejects.toThrow("a wrong response");
    expect(stop).toHaveBeenCalledOnce();
  });
});

describe("an option that takes", () => {
  const parsed = (option: Option, ...args: string[]) =>
    new Command()
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .addOption(option)
      .parse(args, { from: "user" })
      .opts();

  test.each(["", "0", "-1", "10m", "Infinity", "NaN"])("a number above 0 does not take %j", (text) => {
    const option = positiveNumber("--minutes <number>", "", 10);
    expect(() => parsed(option, "--minutes", text)).toThrow("Not a number above 0.");
    expect(parsed(option, "--minutes", "0.5")).toEqual({ minutes: 0.5 });
    expect(parsed(option)).toEqual({ minutes: 10 });
  });

  test.each(["", "many", "-1", "1.5", "1e3", "1234567890"])("a whole number does not take %j", (text) => {
    const option = wholeNumber("--seed <number>", "", 1);
    expect(() => parsed(option, "--seed", text)).toThrow("Not a whole number.");
    expect(parsed(option, "--seed", "9")).toEqual({ seed: 9 });
    expect(parsed(option)).toEqual({ seed: 1 });
  });
});
