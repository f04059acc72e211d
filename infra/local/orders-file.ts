import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { type OrderRow, parseOrderLine } from "../orders-file/order-line.ts";
import { StartError } from "./start-error.ts";

/**
 * The orders of an orders file (NDJSON), one after the other.
 *
 * @throws StartError naming the first line that is no order, or the file when it can't be read.
 */
export async function* readOrders(file: string): AsyncGenerator<OrderRow, void, void> {
  for await (const { row } of readLines(file)) yield row;
}

/** Reads the whole file once, so that nothing is written when a line is bad or an id is there twice. */
export async function checkOrders(file: string, signal: AbortSignal): Promise<void> {
  const ids = new Set<string>();
  for await (const { number, row } of readLines(file)) {
    signal.throwIfAborted();
    const id = row["id"]?.N ?? "";
    if (ids.has(id)) throw new StartError(`${file}, line ${number}: an earlier line has the order ${id}`);
    ids.add(id);
  }
}

async function* readLines(file: string): AsyncGenerator<{ number: number; row: OrderRow }, void, void> {
  let number = 0;
  for await (const line of lines(file)) {
    number += 1;
    if (line.trim() === "") continue;
    const parsed = parseOrderLine(line);
    if ("problems" in parsed) throw new StartError(`${file}, line ${number}: ${parsed.problems.join("; ")}`);
    yield { number, row: parsed.row };
  }
}

async function* lines(file: string): AsyncGenerator<string, void, void> {
  try {
    yield* createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    throw new StartError(`The orders file can't be read: ${error instanceof Error ? error.message : error}`);
  }
}
