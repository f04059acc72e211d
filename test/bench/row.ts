import { median, spread } from "./samples.ts";

export interface Goal {
  /** The value to stay at or under; undefined for a figure that is only reported. */
  goal: number | undefined;
  /** By how much noise may carry a figure without pairs over the goal, as a share of the goal. */
  margin: number;
}

/** The bench's goals. They are ratios, but for a bundle's kilobytes and the seconds of a start. */
export const goals = {
  bundle: { goal: 200, margin: 0 },
  coldStart: { goal: 1.2, margin: 0 },
  firstResponse: { goal: 2, margin: 0 },
  firstCancel: { goal: 1.5, margin: 0 },
  warmCancel: { goal: 1.2, margin: 0 },
  warmCancelCpu: { goal: 1.2, margin: 0.1 },
  listTime: { goal: 1.15, margin: 0 },
  listCpu: { goal: 1.2, margin: 0 },
  listMemory: { goal: 1.25, margin: 0.05 },
  listFirstByte: { goal: 1.5, margin: 0.1 },
  start: { goal: 6, margin: 0.1 },
} satisfies Record<string, Goal>;

/** Of a figure that is only reported. */
export const reported: Goal = { goal: undefined, margin: 0 };

/** One line of the bench: a figure of ours beside the floor measured in the same run. */
export interface Row extends Goal {
  what: string;
  /** Figures as people read them, like `12.3 ms`. */
  ours: string;
  floor: string;
  /** Ours divided by the floor, or the figure itself where the goal is not a ratio. */
  value: number;
  /** Where the ratio lies with 95 % confidence, of a row of pairs. */
  spread?: [least: number, most: number];
  /** The goal's unit: `x` for a ratio. */
  unit: "x" | "KB" | "s";
}

interface Figures<Figure> {
  ours: Figure;
  floor: Figure;
  unit: string;
  digits?: number;
}

/** A row of two figures of the same unit and the ratio between them. */
export function ratioRow(
  what: string,
  { ours, floor, unit, digits = 1 }: Figures<number>,
  goal: Goal,
): Row {
  const text = (value: number): string => `${value.toFixed(digits)} ${unit}`;
  return { what, ours: text(ours), floor: text(floor), value: ours / floor, ...goal, unit: "x" };
}

/**
 * A row of the medians of two series of samples, made in turn, and the median of the ratios of its
 * pairs.
 */
export function pairsRow(
  what: string,
  { ours, floor, ...figures }: Figures<number[]>,
  goal: Goal,
): Row {
  const ratios = ours.map((sample, pair) => sample / (floor[pair] ?? Number.NaN));
  return {
    ...ratioRow(what, { ours: median(ours), floor: median(floor), ...figures }, goal),
    value: median(ratios),
    spread: spread(ratios),
  };
}

/** A row of a figure that this machine can't measure. */
export function notMeasured(what: string, why: string): Row {
  const ours = `not measured here: ${why}`;
  return { what, ours, floor: "", value: Number.NaN, goal: undefined, margin: 0, unit: "s" };
}

type Verdict = "met" | "within noise" | "MISSED" | "-";

/**
 * A goal is missed when noise alone does not explain the figure: the whole spread, or more than the
 * margin, is over it.
 */
export function verdict({ value, spread, goal, margin }: Row): Verdict {
  if (goal === undefined) return "-";
  if (value <= goal) return "met";
  const least = spread?.[0] ?? value / (1 + margin);
  return least <= goal ? "within noise" : "MISSED";
}

function ratioText({ unit, value, spread }: Row): string {
  if (unit !== "x") return "";
  return `${value.toFixed(2)}x${spread ? ` (${spread.map((end) => end.toFixed(2)).join(" to ")})` : ""}`;
}

function goalText({ goal, unit }: Row): string {
  if (goal === undefined) return "";
  return `<= ${goal}${unit === "x" ? "x" : ` ${unit}`}`;
}

/** The rows as cells, the head first. */
export function table(rows: Row[]): string[][] {
  const cells = rows.map((row) => [
    row.what,
    row.ours,
    row.floor,
    ratioText(row),
    goalText(row),
    verdict(row),
  ]);
  return [["what", "ours", "floor", "ratio", "goal", ""], ...cells];
}
