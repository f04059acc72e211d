import { expect, test } from "vitest";
import { inTurn, median } from "./samples.ts";

test("the median is the middle sample, and halfway between the two of an even number", () => {
  expect([[9, 1, 10], [10, 2, 9, 1], [7]].map(median)).toEqual([9, 5.5, 7]);
});

test("things are sampled in turn, each as first as often as the others, and their first round is thrown away", async () => {
  const order: string[] = [];
  const sample = (name: string) => async () => order.push(name);
  const samples = await inTurn(3, { ours: sample("ours"), floor: sample("floor") });
  expect(order.join(" ")).toBe("ours floor floor ours ours floor floor ours");
  expect(samples).toEqual({ ours: [4, 5, 8], floor: [3, 6, 7] });
});
