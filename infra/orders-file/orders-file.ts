import type { FileHandle } from "node:fs/promises";
import { Refusal } from "../admin/refusal.ts";
import { type FileLine, longestLine, readLines } from "./file-lines.ts";
import { type OrderRow, parseOrderLine } from "./order-line.ts";
import { RepeatedIds } from "./repeated-ids.ts";

/** A line that holds no order that could be imported, and every reason why. */
export interface BadLine {
  line: number;
  problems: string[];
}

/**
 * Checks every line of an orders file, ids given twice included.
 *
 * @param onBad called for each bad line and awaited: there may be more of them than memory should hold.
 * @param onRead called with the number of bytes checked so far.
 * @returns how many orders the file means to hold, a line each, and how many of these lines are bad.
 */
export async function checkOrderFile(
  file: FileHandle,
  onBad: (bad: BadLine) => Promise<void>,
  onRead: (bytes: number) => void,
): Promise<{ orders: number; bad: number }> {
  const ids = new RepeatedIds();
  let orders = 0;
  let bad = 0;
  for await (const block of readLines(file, onRead)) {
    orders += block.length;
    for (const line of block) {
      const order = readOrder(line);
      if ("row" in order) ids.add(orderId(order.row));
      else {
        bad++;
        await onBad({ line: line.number, problems: order.problems });
      }
    }
  }
  const repeated = ids.find();
  if (repeated.size > 0) bad += await nameRepetitions(file, repeated, onBad);
  return { orders, bad };
}

/** Only the first order with an id could be written: which one is meant is not ours to choose. */
async function nameRepetitions(
  file: FileHandle,
  repeated: Set<bigint>,
  onBad: (bad: BadLine) => Promise<void>,
): Promise<number> {
  const firstLine = new Map<bigint, number>();
  let bad = 0;
  for await (const block of readLines(file)) {
    for (const line of block) {
      const order = readOrder(line);
      const id = "row" in order ? orderId(order.row) : undefined;
      if (id === undefined || !repeated.has(id)) continue;
      const first = firstLine.get(id);
      if (first === undefined) firstLine.set(id, line.number);
      else {
        bad++;
        await onBad({ line: line.number, problems: [`id ${id} is on line ${first} already`] });
      }
    }
  }
  return bad;
}

/**
 * The orders of a file that was checked and found to hold this many and no bad line.
 *
 * @throws Refusal when it is not that file any more.
 */
export async function* readOrders(file: FileHandle, orders: number): AsyncGenerator<OrderRow, void, void> {
  let count = 0;
  for await (const block of readLines(file)) {
    for (const line of block) {
      const order = readOrder(line);
      if (!("row" in order) || ++count > orders) {
        throw new Refusal(`The file was changed while it was imported: line ${line.number} is not as it was checked`);
      }
      yield order.row;
    }
  }
  if (count < orders) throw new Refusal("The file was changed while it was imported: it is shorter than it was");
}

function readOrder({ text }: FileLine): ReturnType<typeof parseOrderLine> {
  if (text === undefined) return { problems: [`it is longer than ${longestLine} bytes`] };
  return parseOrderLine(text);
}

function orderId({ id }: OrderRow): bigint {
  if (id?.N === undefined) throw new Error("A checked order has no id");
  return BigInt(id.N);
}
