import { runInNewContext } from "node:vm";
import type { Alarm, AlarmMetric } from "./definitions.ts";

/** A value that CloudWatch received for a metric. */
export interface Sample {
  /** Like `AWS/Lambda Throttles [FunctionName=CancelOrder]`. */
  metric: string;
  /** When; minutes count from 1. */
  minute: number;
  value: number;
}

/** The names of the alarms that are on at the end of a minute. */
export function raised(alarms: Alarm[], samples: Sample[], minute: number): string[] {
  const byMetric = Map.groupBy(samples, ({ metric }) => metric);
  return alarms.filter((alarm) => isOn(alarm, byMetric, minute)).map(({ name }) => name);
}

function isOn(alarm: Alarm, samples: Map<string, Sample[]>, minute: number): boolean {
  const { operator, threshold, evaluationPeriods, datapointsToAlarm } = alarm;
  if (operator !== "GreaterThanOrEqualToThreshold") throw new Error(`Not supported here: ${operator}`);
  const periods = Array.from({ length: evaluationPeriods }, (_, index) => datapoint(alarm, samples, minute, index));
  return periods.filter((value) => value !== undefined && value >= threshold).length >= datapointsToAlarm;
}

/** The alarm's value for a period, counted back from the one that ends with the minute; undefined without data. */
function datapoint(
  { inputs, watched }: Alarm,
  samples: Map<string, Sample[]>,
  minute: number,
  back: number,
): number | undefined {
  const values = new Map<string, number | undefined>();
  // An expression may use others, which the template lists after it.
  for (const [name, input] of [...inputs].reverse()) {
    if (typeof input === "string") values.set(name, calculate(input, values));
    else values.set(name, aggregate(input, samples, minute, back));
  }
  return values.get(watched);
}

function aggregate(
  { metric, statistic, period }: AlarmMetric,
  samples: Map<string, Sample[]>,
  minute: number,
  back: number,
): number | undefined {
  const length = period / 60;
  const end = minute - back * length;
  const ofMetric = samples.get(metric) ?? [];
  const values = ofMetric
    .filter((sample) => sample.minute <= end && sample.minute > end - length)
    .map(({ value }) => value)
    .sort((a, b) => a - b);
  if (values.length === 0) return undefined;
  if (statistic === "Sum") return values.reduce((sum, value) => sum + value, 0);
  if (statistic === "p99") return values[Math.ceil(0.99 * values.length) - 1];
  throw new Error(`Not supported here: the statistic ${statistic}`);
}

/**
 * The value of a metric math expression for one period, of the few forms that the stack uses. As in CloudWatch, it is
 * missing when data that it needs is missing, other than inside FILL.
 *
 * @throws Error for syntax that the stack's expressions don't use.
 */
function calculate(expression: string, values: ReadonlyMap<string, number | undefined>): number | undefined {
  const filled = expression.replaceAll(/FILL\((\w+), (\d+)\)/g, (_, name: string, value: string) =>
    String(values.get(name) ?? value),
  );
  const names = new Set(filled.match(/[A-Za-z]\w*/g));
  if (!/^[\w\s().,*/>=-]+$/.test(filled)) throw new Error(`Not supported here: ${expression}`);
  const context: Record<string, unknown> = { IF: (test: boolean, yes: number, no: number) => (test ? yes : no) };
  for (const name of names) {
    if (name === "IF") continue;
    if (!values.has(name)) throw new Error(`${expression} uses ${name}, which the alarm does not define`);
    context[name] = values.get(name);
  }
  return Object.values(context).includes(undefined) ? undefined : runInNewContext(filled, context);
}
