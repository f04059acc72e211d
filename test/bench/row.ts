import { goals, reasons } from "./goals.ts";
import { median } from "./samples.ts";

/** Our functions, without what `bundles.ts` and the code choose of the SDK. */
export const stockSdk = "the stock SDK";
export const sdkAlone = "the SDK alone";
export const byHand = "calls signed by hand";

export interface Measured {
  /** Like `list of 100,000, CPU`. */
  name: string;
  beside?: string;
  unit: string;
  ours: number;
  floor?: number;
  /** Ours divided by the floor, or ours where there is no floor. */
  value: number;
  /** Why this machine can't measure it. */
  unmeasured?: string;
}

/** The medians of several runs. */
export interface Row extends Measured {
  lowest: number;
  highest: number;
}

/** One measure of our samples beside others; a ratio is the median of those of the rounds. */
export function besides<Measure extends string>(
  name: string,
  measure: Measure,
  samples: Record<string, Record<Measure, number>[]>,
  unit = "ms",
): Measured[] {
  const measured = Object.entries(samples).map(([beside, rounds]) => ({
    beside,
    figures: rounds.map(({ [measure]: figure }) => figure),
  }));
  const [{ figures: ours = [] } = {}, ...others] = measured;
  return others.map(({ beside, figures: floor }) => ({
    name: `${name}, ${measure}`,
    beside,
    unit,
    ours: median(ours),
    floor: median(floor),
    value: median(ours.map((sample, round) => sample / (floor[round] ?? Number.NaN))),
  }));
}

export function figure(name: string, ours: number, unit: string): Measured {
  return { name, unit, ours, value: ours };
}

function nameOf({ name, beside }: Measured) {
  return beside === undefined ? name : `${name}, beside ${beside}`;
}

export function rowsOf([first = [], ...others]: Measured[][]): Row[] {
  return first.map((measured) => {
    const isSame = (other: Measured) => nameOf(other) === nameOf(measured);
    const figures = [measured, ...others.flat().filter(isSame)];
    const values = figures.map(({ value }) => value);
    const floors = figures.flatMap(({ floor }) => floor ?? []);
    return {
      ...measured,
      ours: median(figures.map(({ ours }) => ours)),
      ...(floors.length > 0 && { floor: median(floors) }),
      value: median(values),
      lowest: Math.min(...values),
      highest: Math.max(...values),
    };
  });
}

export function hasGoal(row: Row) {
  return goals[nameOf(row)] !== undefined;
}

export function misses(row: Row) {
  return row.value > (goals[nameOf(row)] ?? Number.POSITIVE_INFINITY);
}

/** The names of the rows that miss their goals without a reason. */
export function unexplained(rows: Row[]) {
  const missed = rows.filter(misses).map(nameOf);
  return missed.filter((name) => reasons[name] === undefined);
}

export function figureText(value: number, { unit }: Measured) {
  return `${Number(value.toPrecision(3))} ${unit}`;
}

export function table(rows: Row[]) {
  return [["what", "ours", "floor", "ratio", "goal"], ...rows.map(cells)];
}

function cells(row: Row) {
  const { floor, lowest, highest, value } = row;
  const name = nameOf(row);
  if (row.unmeasured !== undefined) return [name, `not measured here: ${row.unmeasured}`];
  const goal = goals[name];
  const missed = misses(row) ? ` MISSED: ${reasons[name] ?? "no reason known"}` : "";
  const goalIn = (unit: string) => (goal === undefined ? "" : `${goal}${unit}${missed}`);
  const ours = figureText(row.ours, row);
  if (floor === undefined) return [name, ours, "", "", goalIn(` ${row.unit}`)];
  const range = lowest < highest ? ` (${lowest.toFixed(2)}–${highest.toFixed(2)})` : "";
  const ratio = `${value.toFixed(2)}x${range}`;
  return [name, ours, figureText(floor, row), ratio, goalIn("x")];
}
