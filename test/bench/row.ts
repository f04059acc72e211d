/** One line of the bench: a figure of ours beside the floor measured in the same run. */
export interface Row {
  what: string;
  /** Figures as people read them, like `12.3 ms`. */
  ours: string;
  floor: string;
  /** Ours divided by the floor, or the figure itself where the goal is not a ratio. */
  value: number;
  /** The value to stay at or under; undefined for a figure that is only reported. */
  goal: number | undefined;
  /** By how much noise may carry the value over the goal before the bench fails, as a share of the goal. */
  margin: number;
  /** The goal's unit: `x` for a ratio. */
  unit: "x" | "KB" | "s";
}

/** A row of two figures of the same unit and the ratio between them. */
export function ratioRow(
  what: string,
  { ours, floor, unit, digits = 1 }: { ours: number; floor: number; unit: string; digits?: number },
  { goal, margin }: { goal: number | undefined; margin: number },
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

/** The rows as cells, the head first. */
export function table(rows: Row[]): string[][] {
  const cells = rows.map((row) => [
    row.what,
    row.ours,
    row.floor,
    row.unit === "x" ? `${row.value.toFixed(2)}x` : "",
    row.goal === undefined ? "" : `<= ${row.goal}${row.unit === "x" ? "x" : ` ${row.unit}`}`,
    verdict(row),
  ]);
  return [["what", "ours", "floor", "ratio", "goal", ""], ...cells];
}
