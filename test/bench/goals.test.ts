import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Goal, goals, reported } from "./goals.ts";
import { growthRows, growthTable } from "./growth-table.ts";
import type { Growth } from "./list.ts";
import { missed } from "./row.ts";

const readme = readFileSync(new URL("README.md", import.meta.url), "utf8");

/** The goals that the README's table shows, by what is measured. */
const shown = [...readme.matchAll(/^\| (.*?) \| .* \| (?:<= ([\d.]+)(?:x| KB| s))? \| (?:met|within noise|-) \|$/gm)];

/** The goal of what is measured, by the beginning of its name. */
const measured: [string, Goal][] = [
  ["bundle of ", goals.bundle],
  ...["ListOrders", "CancelOrder", "Authorize"].flatMap((name): [string, Goal][] => [
    [`cold start of ${name}, init and first response`, goals.coldStart],
    [`cold start of ${name}, first response alone`, goals.firstResponse],
  ]),
  ["first authorised cancel", goals.firstCancel],
  ["warm cancel, ", goals.warmCancel],
  ["list of 100,000, wall, gzip beside plain", reported],
  ["list of 100,000, wall", goals.listTime],
  ["list of 100,000, CPU", goals.listCpu],
  ["list, peak memory", goals.listMemory],
  ["list, first byte", goals.listFirstByte],
  ["npm start to ready", goals.start],
];

test("the bench's goals are those that its README shows", () => {
  expect(shown).toHaveLength(23);
  for (const [, what = "", goal] of shown) {
    const [, { goal: judgedBy }] = measured.find(([start]) => what.startsWith(start)) ?? ["", reported];
    expect([what, goal && Number(goal)]).toEqual([what, judgedBy]);
  }
});

test("a goal is missed by more than noise: 10 % of the goal, 5 % for memory, none for a bundle", () => {
  const { bundle, listMemory, ...others } = goals;
  expect([bundle.margin, listMemory.margin, ...Object.values(others).map(({ margin }) => margin)]).toEqual([
    ...[0, 0.05],
    ...Array(8).fill(0.1),
  ]);
});

const growth = (changes: Partial<Growth> = {}): Growth => ({
  ...{ wall: 500, firstByte: 40, peakMemory: 200, plain: 9_400_000, gzip: 1_200_000 },
  ...changes,
});

test("a list that grows must take hardly more memory, or time to begin, and has to be measured", () => {
  const rows = (changes: Partial<Growth>) =>
    missed(growthRows(new Map([10_000, 1_000_000].map((size) => [size, growth(size > 10_000 ? changes : {})]))));
  expect(rows({})).toEqual([]);
  expect(rows({ peakMemory: 300 })).toEqual([
    "list, peak memory, 1,000,000 beside 10,000: 300 MB beside 200 MB is 1.50x; the goal is <= 1.25x",
  ]);
  expect(rows({ firstByte: 80 })).toEqual([
    "list, first byte, 1,000,000 beside 10,000: 80.0 ms beside 40.0 ms is 2.00x; the goal is <= 1.5x",
  ]);
  expect(() => growthRows(new Map([[10_000, growth()]]))).toThrow("are not measured");
});

test("a list on AWS takes the time for reading it or, if that is longer, for streaming what exceeds 6 MB", () => {
  const onAws = (wall: number) => growthTable(new Map([[100_000, growth({ wall })]]))[1]?.slice(-3);
  expect(onAws(500)).toEqual(["1.7 s", "1.2 MB", "0.5 s"]);
  expect(onAws(2_000)).toEqual(["2.0 s", "1.2 MB", "2.0 s"]);
});
