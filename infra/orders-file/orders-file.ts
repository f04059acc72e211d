import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { getSystemErrorMessage } from "node:util";
import type { OrderItem } from "../../shared/order.ts";
import { counted } from "../terminal/counted.ts";
import { linesOf } from "../terminal/lines.ts";
import { printable } from "../terminal/printable.ts";
import { Findings } from "./findings.ts";
import { type LineProblems, type OrderLine, parseOrderLine, problem } from "./order-line.ts";

/** A file of orders: its name as the user typed it, and its path. */
export interface OrdersFile {
  name: string;
  path: string;
}

/** A problem with an orders file, for people. */
export class OrdersFileError extends Error {
  override name = "OrdersFileError";
}

/** A bad line: its number, from 1, and its problems. */
interface BadLine extends LineProblems {
  line: number;
}

/** An orders file has bad lines. The message lists them, a line for each. */
export class BadLinesError extends OrdersFileError {
  readonly lineCount: number;
  readonly bad: Findings<BadLine>;

  constructor(name: string, lineCount: number, bad: Findings<BadLine>) {
    const messages = bad.first.map(({ line, column, problems }) => {
      const place = [name, line, column].filter((part) => part !== undefined).join(":");
      return `${place}: ${problems.map(({ text }) => text).join("; ")}`;
    });
    const verb = bad.count === 1 ? "is" : "are";
    const count = `${bad.count} of ${counted(lineCount, "line")} ${verb} bad: nothing was written`;
    super([...messages, ...bad.more, count].map(printable).join("\n"));
    this.lineCount = lineCount;
    this.bad = bad;
  }
}

/**
 * Checks every line of an orders file, and that no id repeats.
 *
 * @param onRead called with the number of bytes checked so far.
 * @returns how many orders there are.
 * @throws BadLinesError when a line is bad; OrdersFileError when the file is a pipe or can't be
 * read.
 */
export async function checkOrders(
  file: OrdersFile,
  onRead?: (bytes: number) => void,
): Promise<number> {
  // Opening a pipe would wait for its writer, and reading it a second time would find it empty.
  if ((await stat(file.path).catch(() => undefined))?.isFIFO()) {
    throw new OrdersFileError(`${file.name} is a pipe, and an orders file is read twice`);
  }
  const bad = new Findings<BadLine>();
  const add = (line: BadLine): void => bad.add(line.problems[0]?.kind ?? "", line);
  let lineCount = 0;
  // Eight bytes an order: a Map from ids to lines would take sixty.
  let ids = new BigInt64Array(1024);
  let orders = 0;
  for await (const parsed of readOrderLines(file, onRead)) {
    lineCount++;
    if ("problems" in parsed) {
      add(parsed);
      continue;
    }
    if (orders === ids.length) {
      const larger = new BigInt64Array(2 * orders);
      larger.set(ids);
      ids = larger;
    }
    ids[orders] = idOf(parsed.item);
    orders++;
  }
  for await (const line of repeatedIds(file, ids.subarray(0, orders))) add(line);
  bad.first.sort((a, b) => a.line - b.line);
  if (bad.count > 0) throw new BadLinesError(file.name, lineCount, bad);
  return lineCount;
}

/** Finds the lines whose id an earlier line has. Reads the file again, but only if an id repeats. */
async function* repeatedIds(
  file: OrdersFile,
  ids: BigInt64Array,
): AsyncGenerator<BadLine, void, void> {
  const sorted = ids.toSorted();
  const repeated = new Set(sorted.filter((id, at) => id === sorted[at - 1]));
  if (repeated.size === 0) return;
  const firstLines = new Map<bigint, number>();
  for await (const parsed of readOrderLines(file)) {
    if ("problems" in parsed) continue;
    const { line, item } = parsed;
    const id = idOf(item);
    if (!repeated.has(id)) continue;
    const first = firstLines.get(id);
    if (first === undefined) {
      firstLines.set(id, line);
    } else {
      // An import would write the first one, which may not be the one that is meant.
      const text = `id ${id} is already on line ${first}`;
      yield { line, problems: [problem("id ... is already on line ...", text)] };
    }
  }
}

function idOf(item: OrderItem): bigint {
  return BigInt(item["id"]?.N ?? 0);
}

/**
 * Reads the orders of a file that `checkOrders` found to hold this many.
 *
 * @throws OrdersFileError when a line is now bad, the number of orders differs, or the file can't
 * be read any more.
 */
export async function* readOrders(
  file: OrdersFile,
  orders: number,
): AsyncGenerator<OrderItem, void, void> {
  const changed = `${file.name} changed while it was being read`;
  let count = 0;
  for await (const parsed of readOrderLines(file)) {
    count++;
    if ("problems" in parsed || count > orders) {
      throw new OrdersFileError(`${changed}: line ${parsed.line} is not what was checked`);
    }
    yield parsed.item;
  }
  if (count < orders)
    throw new OrdersFileError(`${changed}: ${count} of ${orders} orders are left`);
}

const utf8 = new TextDecoder();

async function* readOrderLines(
  { name, path }: OrdersFile,
  onRead?: (bytes: number) => void,
): AsyncGenerator<OrderLine & { line: number }, void, void> {
  // Each character stands for a byte.
  const file = createReadStream(path, { highWaterMark: 262_144, encoding: "latin1" });
  let line = 0;
  try {
    for await (const rawLine of linesOf(file, longestLine)) {
      onRead?.(file.bytesRead);
      line++;
      if (rawLine.length > longestLine) {
        yield {
          line,
          problems: [problem(`longer than ${longestLine} bytes, so the rest was not checked`)],
        };
        return;
      }
      const bytes = Buffer.from(rawLine, "latin1");
      // Decoded without the byte order mark that some Windows programs put at the start.
      const text = utf8.decode(bytes);
      if (!isUtf8(bytes)) yield { line, problems: [problem("not UTF-8")] };
      else if (text.trim() !== "") yield { line, ...parseOrderLine(text) };
    }
  } catch (error) {
    throw namingFile(name, error);
  }
}

/**
 * The longest line, in bytes, so that a binary file does not end up in memory as one. The line of
 * an item of 400 KB is shorter: at worst, the item is a list of numbers like 1E+125, each 3 bytes
 * in the table and 135 in a line.
 */
export const longestLine = 20_971_520;

/** The error to throw: for a failure of the file system, one with the file's name. */
export function namingFile(name: string, error: unknown): unknown {
  // The SDK's errors can have a number, too, and always have metadata.
  if (!(error instanceof Error && "errno" in error) || "$metadata" in error) return error;
  const isFolder = "code" in error && error.code === "EISDIR";
  const reason = isFolder ? " is a folder" : `: ${getSystemErrorMessage(Number(error.errno))}`;
  return new OrdersFileError(`${name}${reason}`);
}
