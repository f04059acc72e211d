import { runInThisContext } from "node:vm";
import { type MetricFilter, metricKey } from "./definitions.ts";

/** The metrics that a log line counts for, with their values. */
export function counted(filters: MetricFilter[], line: unknown): [metric: string, value: number][] {
  const matching = filters.filter(({ pattern }) => matches(pattern, line));
  return matching.map(({ dimensions, name, namespace, value }) => {
    const Dimensions = Object.entries(dimensions).map(([Name, selector]) => {
      const Value = select(line, selector);
      if (typeof Value !== "string") throw new Error(`The line has no ${selector}, a dimension of ${name}`);
      return { Name, Value };
    });
    const number = Number(value.startsWith("$") ? select(line, value) : value);
    return [metricKey({ Namespace: namespace, MetricName: name, Dimensions }), number];
  });
}

/** The field of a log line that a selector like `$.message.event` names; undefined when the line has none. */
function select(line: unknown, selector: string): unknown {
  return selector
    .split(".")
    .slice(1)
    .reduce<unknown>((value, name) => new Map(Object.entries(value ?? {})).get(name), line);
}

/**
 * Whether a log line matches CloudWatch's filter pattern.
 *
 * @param line the parsed JSON of the line.
 * @throws Error for syntax that the stack's patterns don't use.
 */
function matches(pattern: string, line: unknown): boolean {
  const [, conditions = ""] = /^\{ (.*) \}$/.exec(pattern) ?? [];
  const decided = conditions.replaceAll(
    /(\$[\w.]+) (=|!=|>=) ("[^"]*"|\d+)/g,
    (_, selector: string, operator: string, literal: string) =>
      String(compare(select(line, selector), operator, JSON.parse(literal))),
  );
  if (!/^(?:true|false|&&|\|\||[ ()])+$/.test(decided)) throw new Error(`Not supported here: ${pattern}`);
  return runInThisContext(decided);
}

function compare(value: unknown, operator: string, literal: string | number): boolean {
  if (operator === "!=") return !compare(value, "=", literal);
  if (operator === ">=") return typeof value === "number" && value >= Number(literal);
  if (typeof value !== "string") return value === literal;
  const [start = "", ...rest] = String(literal).split("*");
  return rest.length === 0 ? value === literal : value.startsWith(start);
}
