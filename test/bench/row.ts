import { median, medianRange, type Range } from "./samples.ts";

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

/** The goal of a figure that is only reported. */
export const reported: Goal = { goal: undefined };

// Names of the least work that could do the same, with the SDK and without.
export const sdkAlone = "the SDK alone";
export const byHand = "calls signed by hand";

/** One line of the bench: a figure of ours, most often beside another of the same run. */
export interface Row extends Goal {
  /** Like `cold start of ListOrders`. */
  name: string;
  /** The name of the other figure. */
  beside?: string;
  /** Undefined if this machine can't measure them. */
  figures?: Figures;
  /** Ours divided by the floor, or the figure itself where there is no floor. */
  value: number;
  /** Where a ratio of pairs lies with 95 % confidence. */
  range?: Range;
  /** Why there are no figures. */
  reason?: string;
}

interface Figures {
  ours: number;
  floor?: number;
  unit: string;
  digits?: number;
}

interface FiguresBeside extends Figures {
  floor: number;
}

/** Samples of ours and of the floor, taken in turn. */
interface PairedSamples {
  ours: number[];
  floor: number[];
  unit: string;
  digits?: number;
}

/** A row of two figures of the same unit and the ratio between them. */
export function ratioRow(name: string, beside: string, figures: FiguresBeside, goal: Goal): Row {
  return { name, beside, figures, value: figures.ours / figures.floor, ...goal };
}

/** A row of the medians of two series of samples, and the median of the ratios of their pairs. */
export function pairsRow(
  name: string,
  beside: string,
  { ours, floor, ...format }: PairedSamples,
  goal: Goal,
): Row {
  const ratios = ours.map((sample, pair) => sample / (floor[pair] ?? Number.NaN));
  return {
    name,
    beside,
    figures: { ours: median(ours), floor: median(floor), ...format },
    value: median(ratios),
    range: medianRange(ratios),
    ...goal,
  };
}

/** A row of a figure that stands alone, in the unit of its goal. */
export function figureRow(name: string, ours: number, unit: "KB" | "s", goal: Goal): Row {
  return { name, figures: { ours, unit }, value: ours, ...goal };
}

/** A row of a figure that this machine can't measure. */
export function unmeasuredRow(name: string, reason: string): Row {
  return { name, value: Number.NaN, ...reported, reason };
}

type Verdict = "met" | "within noise" | "MISSED" | "-";

/**
 * A goal is missed when noise alone does not explain the figure: its whole range is over the goal
 * or, without a range, the figure is over it by more than the margin.
 */
export function verdict({ value, range, goal, margin = 0 }: Row): Verdict {
  if (goal === undefined) return "-";
  if (value <= goal) return "met";
  const least = range?.least ?? value / (1 + margin);
  return least <= goal ? "within noise" : "MISSED";
}

/** A figure as people read it, like `12.3 ms`. */
export function figureText(figure: number, { unit, digits = 1 }: Figures): string {
  return `${figure.toFixed(digits)} ${unit}`;
}

function ratioText({ figures, value, range }: Row): string {
  if (figures?.floor === undefined) return "";
  const ratio = `${value.toFixed(2)}x`;
  if (range === undefined) return ratio;
  return `${ratio} (${range.least.toFixed(2)} to ${range.most.toFixed(2)})`;
}

function goalText({ goal, figures }: Row): string {
  if (goal === undefined) return "";
  return figures?.floor === undefined ? `<= ${goal} ${figures?.unit}` : `<= ${goal}x`;
}

/** The rows as cells, the head first. */
export function table(rows: Row[]): string[][] {
  const cells = rows.map((row) => {
    const { name, beside, figures, reason } = row;
    return [
      beside === undefined ? name : `${name}, beside ${beside}`,
      figures ? figureText(figures.ours, figures) : `not measured here: ${reason}`,
      figures?.floor === undefined ? "" : figureText(figures.floor, figures),
      ratioText(row),
      goalText(row),
      verdict(row),
    ];
  });
  return [["what", "ours", "floor", "ratio", "goal", ""], ...cells];
}
