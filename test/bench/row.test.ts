import { expect, test } from "vitest";
import { notMeasured, pairsRow, type Row, ratioRow, table, verdict } from "./row.ts";
import { inTurn, median, spread } from "./samples.ts";

const goal = { goal: 2, margin: 0.1 };
const one = (ours: number): Row => ratioRow("a list", { ours, floor: 1, unit: "ms" }, goal);
/**
 * Eleven pairs, of whose ratios the median is in the middle, and with 95 % confidence between the
 * third from each end.
 */
const pairs = (...ratios: number[]): Row =>
  pairsRow(
    "a list",
    { ours: ratios.map((ratio) => 5 * ratio), floor: ratios.map(() => 5), unit: "ms" },
    goal,
  );

test.each<[string, Row]>([
  ["met", one(2)],
  ["within noise", one(2.2)],
  ["MISSED", one(2.201)],
  // Nothing was measured, though there is a goal.
  ["MISSED", one(Number.NaN)],
  ["met", pairs(1, 1, 1, 1, 1, 2, 9, 9, 9, 9, 9)],
  ["within noise", pairs(1, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4)],
  ["MISSED", pairs(1, 2.01, 3, 3, 3, 3, 3, 3, 3, 4, 4)],
  ["-", ratioRow("a list", { ours: 9, floor: 1, unit: "ms" }, { goal: undefined, margin: 0 })],
  ["-", notMeasured("a cold start", "no cgroups")],
])("the bench's verdict is %s only if noise allows no other: %j", (expected, row) => {
  expect(verdict(row)).toBe(expected);
});

test("a row of pairs shows the medians, the median of the ratios, and how far those spread", () => {
  const row = pairs(3, 3, 2, 2.5, 3, 3, 3, 3, 3, 4, 4.5);
  expect(table([row]).at(-1)).toEqual([
    "a list",
    "15.0 ms",
    "5.0 ms",
    "3.00x (2.50 to 4.00)",
    "<= 2x",
    "MISSED",
  ]);
});

test("the median is the middle sample, and halfway between the two of an even number", () => {
  expect([[9, 1, 10], [10, 2, 9, 1], [7]].map(median)).toEqual([9, 5.5, 7]);
});

test("the spread of 31 samples is from the tenth to the twenty-second, and of a few the whole of them", () => {
  const samples = Array.from({ length: 31 }, (_, index) => 31 - index);
  expect(spread(samples)).toEqual([10, 22]);
  expect(spread([3, 1, 2])).toEqual([1, 3]);
});

test("things are sampled in turn, each as first as often as the others, and their first round is thrown away", async () => {
  const order: string[] = [];
  const sample = (name: string) => async () => order.push(name);
  const samples = await inTurn(3, { ours: sample("ours"), floor: sample("floor") });
  expect(order.join(" ")).toBe("ours floor floor ours ours floor floor ours");
  expect(samples).toEqual({ ours: [4, 5, 8], floor: [3, 6, 7] });
});
