import { failWith } from "../helpers/fail-with.ts";
import type { Goal } from "./goals.ts";

/** One line of the bench: a figure of ours beside the floor measured in the same run. */
export interface Row extends Goal {
  what: string;
  /** Figures as people read them, like `12.3 ms`. */
  ours: string;
  floor: string;
  /** Ours divided by the floor, or the figure itself where the goal is not a ratio. */
  value: number;
  /** The goal's unit: `x` for a ratio. */
  unit: "x" | "KB" | "s";
}

/** A row of two figures of the same unit and the ratio between them. */
export function ratioRow(
  what: string,
  { ours, floor, unit, digits = 1 }: { ours: number; floor: number; unit: string; digits?: number },
  { goal, margin }: Goal,
): Row {
  const text = (value: number): string => `${value.toFixed(digits)} ${unit}`;
  return { what, ours: text(ours), floor: text(floor), value: ours / floor, goal, margin, unit: "x" };
}

/** A row of a figure that this machine can't measure. */
export function notMeasured(what: string, why: string): Row {
  const ours = `not measured here: ${why}`;
  return { what, ours, floor: "", value: Number.NaN, goal: undefined, margin: 0, unit: "s" };
}

export type Verdict = "met" | "within noise" | "MISSED" | "-";

export function verdict({ value, goal, margin }: Row): Verdict {
  if (goal === undefined) return "-";
  if (value <= goal) return "met";
  return value <= goal * (1 + margin) ? "within noise" : "MISSED";
}

/** Prints the figures, then each goal that the rows miss. Any that is missed makes the exit code 1. */
export function conclude(figures: string, rows: Row[]): void {
  console.log(figures);
  failWith(missed(rows).map((line) => `MISSED ${line}`));
}

/** A line for each goal that is missed. */
export function missed(rows: Row[]): string[] {
  const bad = rows.filter((row) => verdict(row) === "MISSED");
  return bad.map((row) => {
    const ratio = row.unit === "x" ? ` beside ${row.floor} is ${ratioText(row)}` : "";
    return `${row.what}: ${row.ours}${ratio}; the goal is ${goalText(row)}`;
  });
}

function ratioText({ unit, value }: Row): string {
  return unit === "x" ? `${value.toFixed(2)}x` : "";
}

function goalText({ goal, unit }: Row): string {
  if (goal === undefined) return "";
  return `<= ${goal}${unit === "x" ? "x" : ` ${unit}`}`;
}

/** The rows as cells, the head first. */
export function table(rows: Row[]): string[][] {
  const cells = rows.map((row) => [row.what, row.ours, row.floor, ratioText(row), goalText(row), verdict(row)]);
  return [["what", "ours", "floor", "ratio", "goal", ""], ...cells];
}
