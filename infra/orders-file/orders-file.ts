import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { CommandError } from "../terminal/errors.ts";
import { linesOf } from "../terminal/input.ts";
import { counted, grouped, printable } from "../terminal/text.ts";
import { type OrderLine, parseOrderLine } from "./order-line.ts";

/** A file of orders: its name as the user typed it, and its path. */
export interface OrdersFile {
  name: string;
  path: string;
}

const keptOfKind = 20;

/** What is wrong with a line of a file, from 1. */
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
  readonly lineCount: number;
  readonly bad: Findings;

  constructor(name: string, lineCount: number, bad: Findings) {
    const verb = bad.count === 1 ? "is" : "are";
    const count = `${grouped(bad.count)} of ${counted(lineCount, "line")} ${verb} bad`;
    super([...fileReport(name, bad), `${count}: nothing was written`].join("\n"));
    this.lineCount = lineCount;
    this.bad = bad;
  }
}

/**
 * Checks every line of an orders file, and that no id repeats.
 *
 * @param onRead called with the number of bytes checked so far.
 * @returns how many orders there are.
 * @throws BadLinesError when a line is bad; CommandError when the file is a pipe or can't be read.
 */
export async function checkOrders(
  file: OrdersFile,
  onRead?: (bytes: number) => void,
): Promise<number> {
  // Opening a pipe would wait for its writer, and reading it a second time would find it empty.
  if ((await stat(file.path).catch(() => undefined))?.isFIFO()) {
    throw new CommandError(`${file.name} is a pipe, and an orders file is read twice`);
  }
  const bad = new Findings();
  // Outside the heap, where a Map of a million takes 60 MB.
  using seen = new DatabaseSync(":memory:");
  seen.exec("CREATE TABLE orders (id INTEGER PRIMARY KEY, line INTEGER); BEGIN");
  const add = seen.prepare("INSERT INTO orders VALUES (?, ?) ON CONFLICT DO NOTHING");
  const find = seen.prepare("SELECT line FROM orders WHERE id = ?");
  let lineCount = 0;
  for await (const parsed of readOrderLines(file, onRead)) {
    lineCount++;
    if ("problems" in parsed) {
      bad.add(kindOf(parsed.problems), parsed);
      continue;
    }
    const { line, item } = parsed;
    const id = BigInt(item["id"]?.N ?? 0);
    if (add.run(id, line).changes === 1) continue;
    // An import would write the first one, which may not be the one that is meant.
    const problems = [`id ${id} is already on line ${find.get(id)?.["line"]}`];
    bad.add("id ... is already on line ...", { line, problems });
  }
  if (bad.count > 0) throw new BadLinesError(file.name, lineCount, bad);
  return lineCount;
}

/** The first problem, without what only its line says. */
function kindOf([problem = ""]: string[]) {
  return problem.replace(/"(?:[^"\\]|\\.)*"/, "...").replace(/: .*/, "");
}

/**
 * Reads the orders of a file that `checkOrders` found to hold this many.
 *
 * @throws CommandError when a line is now bad, the number of orders differs, or the file can't
 * be read any more.
 */
export async function* readOrders(file: OrdersFile, orders: number) {
  for await (const { item } of readNumberedOrders(file, orders)) yield item;
}

/** Reads orders as `readOrders` does, each an `item` with its `line`, from 1. */
export async function* readNumberedOrders(file: OrdersFile, orders: number) {
  const changed = new CommandError(`${file.name} changed while it was being read`);
  let count = 0;
  for await (const parsed of readOrderLines(file)) {
    count++;
    if ("problems" in parsed || count > orders) throw changed;
    yield parsed;
  }
  if (count < orders) throw changed;
}

/** The most items that DynamoDB reads in one call, or writes in one transaction. */
export const batchSize = 100;

/** Divides items among calls to DynamoDB. */
export async function* batches<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  size = batchSize,
) {
  let batch: Item[] = [];
  for await (const item of items) {
    if (batch.push(item) < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const utf8 = new TextDecoder();

async function* readOrderLines(
  { name, path }: OrdersFile,
  onRead?: (bytes: number) => void,
): AsyncIterable<OrderLine & { line: number }> {
  // Each character stands for a byte.
  const file = createReadStream(path, { highWaterMark: 262_144, encoding: "latin1" });
  let line = 0;
  for await (const rawLine of linesOf(name, file)) {
    onRead?.(file.bytesRead);
    line++;
    const bytes = Buffer.from(rawLine, "latin1");
    // Decoded without the byte order mark that some Windows programs put at the start.
    const text = utf8.decode(bytes);
    if (!isUtf8(bytes)) yield { line, problems: ["not UTF-8"] };
    else if (text.trim() !== "") yield { line, ...parseOrderLine(text) };
  }
}
