import { describe, expect, test } from "vitest";
import { watched } from "../helpers/watched.ts";
import { conclude, missed, notMeasured, type Row, ratioRow, table, verdict } from "./row.ts";

const row = (ours: number, goal: number | undefined = 2): Row =>
  ratioRow("a list", { ours, floor: 1, unit: "ms" }, { goal, margin: 0.1 });

describe("the bench's verdict", () => {
  test.each<[string, Row]>([
    ["met", row(1.999)],
    ["met", row(2)],
    ["within noise", row(2.001)],
    ["within noise", row(2.2)],
    ["MISSED", row(2.201)],
    ["MISSED", row(Number.POSITIVE_INFINITY)],
    // Nothing was measured, though there is a goal.
    ["MISSED", row(Number.NaN)],
    ["-", ratioRow("a list", { ours: 9, floor: 1, unit: "ms" }, { goal: undefined, margin: 0 })],
    ["-", notMeasured("a cold start", "no cgroups")],
  ])("is %s: %j", (expected, given) => {
    expect(verdict(given)).toBe(expected);
  });

  test("fails the bench for every goal that is missed, and says by which figure", () => {
    expect(missed([row(2), row(2.2), notMeasured("a cold start", "no cgroups")])).toEqual([]);
    expect(missed([row(2), row(3), row(2.3)])).toEqual([
      "a list: 3.0 ms beside 1.0 ms is 3.00x; the goal is <= 2x",
      "a list: 2.3 ms beside 1.0 ms is 2.30x; the goal is <= 2x",
    ]);
    const size: Row = { what: "a bundle", ours: "240.0 KB", floor: "", value: 240, goal: 230, margin: 0, unit: "KB" };
    expect(missed([size])).toEqual(["a bundle: 240.0 KB; the goal is <= 230 KB"]);
  });

  test("is the exit code, and comes below the figures", async () => {
    expect(await watched(() => conclude("figures", [row(2)]))).toEqual({ printed: ["figures"], exitCode: 0 });
    expect(await watched(() => conclude("figures", [row(2), row(3)]))).toEqual({
      printed: ["figures", "MISSED a list: 3.0 ms beside 1.0 ms is 3.00x; the goal is <= 2x"],
      exitCode: 1,
    });
  });

  test("stands in the table beside its figures", () => {
    expect(table([row(3)]).at(-1)).toEqual(["a list", "3.0 ms", "1.0 ms", "3.00x", "<= 2x", "MISSED"]);
  });
});
