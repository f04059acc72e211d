import { runInThisContext } from "node:vm";
import { named } from "../../helpers/named.ts";

/** The properties of a metric filter, with the construct's id for its log group. */
interface MetricFilter {
  FilterPattern: string;
  LogGroupName: string;
  MetricTransformations: [Transformation];
}

interface Transformation {
  MetricNamespace: string;
  MetricName: string;
  /** A number, or a selector of one in the line. */
  MetricValue: string;
  /** The values are selectors. */
  Dimensions?: { Key: string; Value: string }[];
}

/**
 * A value that CloudWatch receives for a metric, which has a name like
 * `AWS/Lambda Throttles [FunctionName=CancelOrder]`.
 */
export type Sample = [metric: string, value: number];

export function metricName(namespace: string, name: string, dimensions: object = {}): string {
  const pairs = Object.entries(dimensions).map(([key, value]) => `${key}=${value}`);
  return `${namespace} ${name} [${pairs.sort()}]`;
}

/** The metric filters of a template's JSON. */
export function readFilters({ Resources }: { Resources?: Record<string, object> }): MetricFilter[] {
  const resources = Object.values(Resources ?? {}) as { Type: string; Properties: unknown }[];
  return resources
    .filter(({ Type }) => Type === "AWS::Logs::MetricFilter")
    .map(({ Properties }) => named(Properties) as MetricFilter);
}

/** The values that a log line adds to metrics. */
export function counted(filters: MetricFilter[], line: unknown): Sample[] {
  return filters
    .filter(({ FilterPattern }) => matches(FilterPattern, line))
    .map(({ MetricTransformations: [transformation] }) => sampleOf(transformation, line));
}

function sampleOf(transformation: Transformation, line: unknown): Sample {
  const { Dimensions = [], MetricName, MetricNamespace, MetricValue } = transformation;
  const dimensions = Dimensions.map(({ Key, Value }) => [Key, select(line, Value)]);
  const name = metricName(MetricNamespace, MetricName, Object.fromEntries(dimensions));
  const value = MetricValue.startsWith("$") ? select(line, MetricValue) : MetricValue;
  return [name, Number(value)];
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
      String(compare(select(line, selector), operator, JSON.parse(literal))),
  );
  if (decided === undefined || !/^(?:true|false|&&|\|\||[ ()])+$/.test(decided))
    throw new Error(`Not supported here: ${pattern}`);
  return runInThisContext(decided);
}

function compare(value: unknown, operator: string, literal: string | number): boolean {
  if (operator === "!=") return !compare(value, "=", literal);
  if (operator === ">=") return typeof value === "number" && value >= Number(literal);
  if (typeof value !== "string") return value === literal;
  const isPrefix = typeof literal === "string" && literal.endsWith("*");
  return isPrefix ? value.startsWith(literal.slice(0, -1)) : value === literal;
}
