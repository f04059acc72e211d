import { DatabaseSync } from "node:sqlite";
import { CommandError } from "../terminal/errors.ts";
import { inputLines, inputName } from "../terminal/input.ts";
import { counted, grouped, printable } from "../terminal/text.ts";
import { parseOrderLine } from "./order-line.ts";

const keptOfKind = 20;

/** Files that people mistake for an orders file, by how they begin. */
const lookalikes: [beginning: RegExp, problem: string][] = [
  [/^\p{Cc}\ufffd/u, "is compressed: unpack it first"],
  [/^\s*\[/, "is a JSON array. A list from the API lacks statuses: use `orders export`"],
  [/^\s*[^\s{]/, "is not JSON"],
];

/** @throws CommandError when the first line is that of a file without orders. */
function rejectLookalikes(name: string, text: string, isFirst: boolean) {
  const problem = lookalikes.find(([pattern]) => isFirst && pattern.test(text))?.[1];
  if (problem)
    throw new CommandError(
      `${name} ${problem}. Each order needs a line like {"id":7,"status":"pending"}`,
    );
}

/** A line of a file, counted from 1, and its problems. */
interface BadLine {
  line: number;
  problems: string[];
}

/** Collects what to report: the first twenty findings of each kind, and how many there are. */
export class Findings<Finding = BadLine> {
  readonly first: Finding[] = [];
  count = 0;
  readonly #counts = new Map<string, number>();

  add(kind: string, finding: Finding): void {
    this.count++;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (count <= keptOfKind) this.first.push(finding);
  }

  /** A line for each kind with more than twenty, like `and 80 more: not JSON`. */
  get more(): string[] {
    return [...this.#counts].flatMap(([kind, count]) =>
      count > keptOfKind ? [`and ${grouped(count - keptOfKind)} more: ${kind}`] : [],
    );
  }
}

/** Sorts findings by their lines. Returns a text for each, and one for each kind with more. */
export function fileReport(name: string, { first, more }: Findings): string[] {
  first.sort((a, b) => a.line - b.line);
  return [
    ...first.map(({ line, problems }) => `${name}:${line}: ${problems.join("; ")}`),
    ...more,
  ].map(printable);
}

/** An orders file has bad lines. The message lists them, a line for each. */
export class BadLinesError extends CommandError {
  /** The same for scripts. */
  readonly json: object;

  constructor(name: string, orders: number, bad: Findings) {
    const verb = bad.count === 1 ? "is" : "are";
    const count = `${grouped(bad.count)} of ${counted(orders, "line")} ${verb} bad`;
    super([...fileReport(name, bad), `${count}: nothing was written`].join("\n"));
    const counts = { written: 0, alreadyThere: 0, different: 0, notWritten: orders };
    this.json = {
      badLines: bad.first,
      bad: bad.count,
      orders,
      ...counts,
      differing: [],
    };
  }
}

/** Orders that passed the check. Their temporary file lasts until they are disposed of. */
export type CheckedOrders = Awaited<ReturnType<typeof checkOrders>>;

/**
 * Reads an orders file, and checks every line and that no id repeats. Keeps the orders in a
 * temporary file, because a pipe can't be read again, and a file may change. SQLite deletes that
 * file as soon as it has opened it, so that even a process that is killed leaves none behind.
 *
 * @param file a path, relative to the caller's folder, or `-` for standard input.
 * @param onRead called with the number of bytes checked so far; it may throw.
 * @param signal ends it, even while it waits for standard input.
 * @throws BadLinesError when a line is bad; CommandError when the file can't be read; AbortError.
 */
export async function checkOrders(
  file: string,
  onRead?: (bytes: number) => void,
  signal?: AbortSignal,
) {
  const bad = new Findings();
  const database = new DatabaseSync("");
  database.exec(`
    CREATE TABLE orders (line INTEGER PRIMARY KEY, id INTEGER UNIQUE, text TEXT);
    BEGIN`);
  const add = database.prepare(
    "INSERT INTO orders VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const find = database.prepare("SELECT line FROM orders WHERE id = ?");
  let count = 0;
  for await (const { line, text, isUtf8 } of inputLines(file, onRead, signal)) {
    rejectLookalikes(inputName(file), text, count++ === 0);
    const parsed = isUtf8 ? parseOrderLine(text) : { problems: ["not UTF-8"] };
    if ("problems" in parsed) {
      bad.add(kindOf(parsed.problems), { line, ...parsed });
      continue;
    }
    const id = BigInt(parsed.item["id"]?.N ?? 0);
    if (add.run(line, id, text).changes === 1) continue;
    // An import would write the first one, which may not be the one that is meant.
    const problems = [`id ${id} is already on line ${find.get(id)?.["line"]}`];
    bad.add("id ... is already on line ...", { line, problems });
  }
  if (bad.count > 0) throw new BadLinesError(inputName(file), count, bad);
  return {
    count,
    /** Reads the orders, each with its line, from 1. */
    *read() {
      const all = database.prepare("SELECT line, text FROM orders ORDER BY line");
      for (const { line, text } of all.iterate()) {
        const parsed = parseOrderLine(String(text));
        if ("problems" in parsed) throw new Error(`${file} was damaged in its copy`);
        yield { line: Number(line), ...parsed };
      }
    },
    [Symbol.dispose]: () => database.close(),
  };
}

/** The first problem, without what only its line says. */
function kindOf([problem = ""]: string[]) {
  return problem.replace(/"(?:[^"\\]|\\.)*"/, "...").replace(/: .*/, "");
}
