import { runInNewContext } from "node:vm";

/** A value for each period, the newest last; undefined where a period has none. */
export type Series = (number | undefined)[];

/** Counts as 0 beside a series that has a value. */
const missing = { valueOf: () => 0 };

const functions = {
  FILL: (value: unknown, filler: number) => (value === missing ? filler : value),
  IF: (condition: unknown, yes: number, no: number) =>
    condition === missing ? missing : condition ? Number(yes) : no,
};

/**
 * The result of an expression, as the CloudWatch user guide defines it in "Using metric math": where
 * only one of two series has a value, the other counts as 0, and a division by 0 has no result.
 */
export function evaluate(expression: string, metrics: Record<string, Series>): Series {
  const used = Object.entries(metrics).filter(([name]) => expression.includes(name));
  const [[, first] = ["", []]] = used;
  return first.map((_, period) => {
    const points = used.map(([name, series]) => [name, series[period] ?? missing]);
    if (points.every(([, point]) => point === missing)) return undefined;
    const result = runInNewContext(expression, {
      ...functions,
      ...Object.fromEntries(points),
    });
    return result !== missing && Number.isFinite(+result) ? +result : undefined;
  });
}
