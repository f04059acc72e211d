import { runInNewContext } from "node:vm";

/**
 * The value of a metric math expression for one period, of the few forms that the stack uses. As in CloudWatch, it is
 * missing when data that it needs is missing, other than inside FILL.
 *
 * @throws Error for syntax that the stack's expressions don't use.
 */
export function calculate(expression: string, values: ReadonlyMap<string, number | undefined>): number | undefined {
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
