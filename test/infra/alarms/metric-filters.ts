import { runInThisContext } from "node:vm";
import type { rows } from "../../helpers/synthesise.ts";

/**
 * A value that CloudWatch receives for a metric, which has a name like
 * `AWS/Lambda Throttles [FunctionName=CancelOrder]`.
 */
export type Sample = [metric: string, value: number];

export function metricName(
  namespace: string,
  name: string,
  dimensions: object = {},
): string {
  const pairs = Object.entries(dimensions).map(([key, value]) => `${key}=${value}`);
  return `${namespace} ${name} [${pairs.sort()}]`;
}

/** The values that a line of a log adds to the metrics of a template's filters. */
export function counted(
  filters: ReturnType<typeof rows>,
  log: string,
  line: unknown,
): Sample[] {
  return filters
    .filter(([, { LogGroupName }]) => LogGroupName === log)
    .filter(([, { FilterPattern }]) => matches(FilterPattern, line))
    .map(([, { MetricTransformations }]) => {
      const [{ Dimensions = [], MetricName, MetricNamespace, MetricValue }] =
        MetricTransformations;
      const dimensions: Record<string, unknown> = {};
      for (const { Key, Value } of Dimensions) dimensions[Key] = select(line, Value);
      const isSelector = MetricValue.startsWith("$");
      const value = isSelector ? select(line, MetricValue) : MetricValue;
      return [metricName(MetricNamespace, MetricName, dimensions), Number(value)];
    });
}

/**
 * The field of a log line that a selector like `$.message.event` names; undefined when the line has
 * none.
 */
function select(line: unknown, selector: string): unknown {
  const names = selector.split(".").slice(1);
  return names.reduce((value, name) => Object(value)[name], line);
}

/**
 * Whether a log line matches CloudWatch's filter pattern.
 *
 * @throws Error for syntax that the stack's patterns don't use.
 */
function matches(pattern: string, line: unknown): boolean {
  const conditions = /^\{ (.*) \}$/.exec(pattern)?.[1];
  const decided = conditions?.replaceAll(
    /(\$[\w.]+) (=|!=|>=) ("[^"]*"|\d+)/g,
    (_, selector: string, operator: string, literal: string) =>
      String(compare(select(line, selector), operator, String(JSON.parse(literal)))),
  );
  if (decided === undefined || !/^(?:true|false|&&|\|\||[ ()])+$/.test(decided))
    throw new Error(`Not supported here: ${pattern}`);
  return runInThisContext(decided);
}

function compare(value: unknown, operator: string, literal: string): boolean {
  if (operator === ">=") return typeof value === "number" && value >= Number(literal);
  const isEqual = literal.endsWith("*")
    ? String(value).startsWith(literal.slice(0, -1))
    : String(value) === literal;
  return isEqual === (operator === "=");
}
