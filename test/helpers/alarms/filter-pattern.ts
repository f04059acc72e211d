import { runInNewContext } from "node:vm";

/** What a selector like `$.message.event` selects from a log line; undefined when the line has no such field. */
export function select(line: unknown, selector: string): unknown {
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
export function matches(pattern: string, line: unknown): boolean {
  const [, conditions = ""] = /^\{ (.*) \}$/.exec(pattern) ?? [];
  const decided = conditions.replaceAll(
    /(\$[\w.]+) (=|>=) ("[^"]*"|\d+)/g,
    (_, selector: string, operator: string, literal: string) =>
      String(compare(select(line, selector), operator, JSON.parse(literal))),
  );
  if (!/^(?:true|false|&&|\|\||[ ()])+$/.test(decided)) throw new Error(`Not supported here: ${pattern}`);
  return runInNewContext(decided);
}

function compare(value: unknown, operator: string, literal: string | number): boolean {
  if (operator === ">=") return typeof value === "number" && value >= Number(literal);
  if (typeof value !== "string") return value === literal;
  const [start = "", ...rest] = String(literal).split("*");
  return rest.length === 0 ? value === literal : value.startsWith(start);
}
