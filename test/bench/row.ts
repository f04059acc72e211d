import { median, spread } from "./samples.ts";

export interface Goal {
  /** The value to stay at or under; undefined for a figure that is only reported. */
  goal: number | undefined;
  /** By how much noise may carry a figure without pairs over the goal, as a share of the goal. */
  margin?: number;
}

/** The bench's goals. They are ratios, but for a bundle's kilobytes and the seconds of a start. */
export const goals = {
  bundle: { goal: 200 },
  coldStart: { goal: 1.05 },
  coldStartAsItComes: { goal: 0.85 },
  firstResponse: { goal: 1.5 },
  firstCancel: { goal: 1.05 },
  warmCancel: { goal: 1.2 },
  warmCancelCpu: { goal: 1.2, margin: 0.1 },
  listTime: { goal: 1.15 },
  listCpu: { goal: 1.2 },
  listMemory: { goal: 1.25, margin: 0.05 },
  listFirstByte: { goal: 1.5, margin: 0.1 },
  start: { goal: 6, margin: 0.1 },
} satisfies Record<string, Goal>;

/** Of a figure that is only reported. */
export const reported: Goal = { goal: undefined };

/** The least work that could do the same, with the SDK and without. */
export const sdkAlone = "the SDK alone";
export const byHand = "calls signed by hand";

/** One line of the bench: a figure of ours, most often beside another of the same run. */
export interface Row extends Goal {
  what: string;
  /** The name of the other figure. */
  beside?: string;
  /** Undefined if this machine can't measure it. */
  figures?: Figures<number>;
  /** Ours divided by the floor, or the figure itself where there is no floor. */
  value: number;
  /** Where the ratio lies with 95 % confidence, of a row of pairs. */
  spread?: [least: number, most: number];
  /** Why it was not measured. */
  notMeasured?: string;
}

interface Figures<Figure> {
  ours: Figure;
  floor?: Figure;
  unit: string;
  digits?: number;
}

/** A row of two figures of the same unit and the ratio between them. */
export function ratioRow(
  what: string,
  beside: string,
  figures: Required<Omit<Figures<number>, "digits">> & { digits?: number },
  goal: Goal,
): Row {
  return { what, beside, figures, value: figures.ours / figures.floor, ...goal };
}

/**
 * A row of the medians of two series of samples, made in turn, and the median of the ratios of its
 * pairs.
 */
export function pairsRow(
  what: string,
  beside: string,
  { ours, floor, ...figures }: { ours: number[]; floor: number[]; unit: string; digits?: number },
  goal: Goal,
): Row {
  const ratios = ours.map((sample, pair) => sample / (floor[pair] ?? Number.NaN));
  return {
    what,
    beside,
    figures: { ours: median(ours), floor: median(floor), ...figures },
    value: median(ratios),
    spread: spread(ratios),
    ...goal,
  };
}

/** A row of a figure that stands alone, in the unit of its goal. */
export function figureRow(what: string, ours: number, unit: "KB" | "s", goal: Goal): Row {
  return { what, figures: { ours, unit }, value: ours, ...goal };
}

/** A row of a figure that this machine can't measure. */
export function notMeasured(what: string, why: string): Row {
  return { what, value: Number.NaN, ...reported, notMeasured: `not measured here: ${why}` };
}

type Verdict = "met" | "within noise" | "MISSED" | "-";

/**
 * A goal is missed when noise alone does not explain the figure: the whole spread, or more than the
 * margin, is over it.
 */
export function verdict({ value, spread, goal, margin = 0 }: Row): Verdict {
  if (goal === undefined) return "-";
  if (value <= goal) return "met";
  const least = spread?.[0] ?? value / (1 + margin);
  return least <= goal ? "within noise" : "MISSED";
}

/** A figure as people read it, like `12.3 ms`. */
export function figureText(figure: number, { unit, digits = 1 }: Figures<number>): string {
  return `${figure.toFixed(digits)} ${unit}`;
}

function ratioText({ figures, value, spread }: Row): string {
  if (figures?.floor === undefined) return "";
  const range = spread?.map((end) => end.toFixed(2)).join(" to ");
  return `${value.toFixed(2)}x${range === undefined ? "" : ` (${range})`}`;
}

function goalText({ goal, figures }: Row): string {
  if (goal === undefined) return "";
  return `<= ${goal}${figures?.floor === undefined ? ` ${figures?.unit}` : "x"}`;
}

/** The rows as cells, the head first. */
export function table(rows: Row[]): string[][] {
  const cells = rows.map((row) => {
    const { what, beside, figures, notMeasured = "" } = row;
    return [
      beside === undefined ? what : `${what}, beside ${beside}`,
      figures ? figureText(figures.ours, figures) : notMeasured,
      figures?.floor === undefined ? "" : figureText(figures.floor, figures),
      ratioText(row),
      goalText(row),
      verdict(row),
    ];
  });
  return [["what", "ours", "floor", "ratio", "goal", ""], ...cells];
}
