type Point = number | undefined;

/** A value for each period, the newest last; undefined where a period has none. */
export type Series = Point[];

type Operation = (first: Point, second: Point, third?: Point) => Point;

const functions: Record<string, Operation> = {
  FILL: (value, filler) => value ?? filler,
  IF: (condition, yes = 0, no) => (condition === 0 ? no : condition && yes),
};

const operators: Record<string, Operation> = {
  "*": (left = 0, right = 0) => left * right,
  "/": (left = 0, right = 0) => (right === 0 ? undefined : left / right),
  "-": (left = 0, right = 0) => left - right,
  ">=": (left = 0, right = 0) => Number(left >= right),
};

/** The forms of an operation, in the order in which they are evaluated. */
const forms = [/[A-Z]+\([\w, ]+\)/, /\w+ [*/] \w+/, /\w+ [-+] \w+/, /\w+ >= \w+/];

/**
 * The result of an expression, as the CloudWatch user guide defines it in "Using metric math": where
 * only one of two series has a value, the other counts as 0, and a division by 0 has no result.
 */
export function evaluate(expression: string, metrics: Record<string, Series>): Series {
  const known = metrics[expression];
  if (known) return known;
  const [form = ""] = forms.flatMap((one) => one.exec(expression) ?? []);
  const words = form.split(/[(), ]+/).filter((word) => word !== "");
  const name = words.find((word) => functions[word] ?? operators[word]) ?? "";
  const operate = functions[name] ?? operators[name];
  if (!operate) throw new Error(`Not supported here: ${expression}`);
  const [first = "", second = "", third = ""] = words.filter((word) => word !== name);
  const series = [first, second].flatMap((id) => (metrics[id] ? [metrics[id]] : []));
  const result = series[0]?.map((_, period) => {
    const point = (id: string) => (metrics[id] ? metrics[id][period] : Number(id));
    const isMissing = series.every((points) => points[period] === undefined);
    if (isMissing && operators[name]) return undefined;
    return operate(point(first), point(second), point(third));
  });
  const step = `step${Object.keys(metrics).length}`;
  return evaluate(expression.replace(form, step), { ...metrics, [step]: result ?? [] });
}
