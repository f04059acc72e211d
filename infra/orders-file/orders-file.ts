import { stat } from "node:fs/promises";
import { getSystemErrorMessage } from "node:util";
import type { OrderItem } from "../../shared/order.ts";
import { longestLine, readLines } from "./file-lines.ts";
import { type OrderLine, parseOrderLine } from "./order-line.ts";
import { RepeatedIds } from "./repeated-ids.ts";

/** A problem with an orders file, in one line for people. */
export class OrdersFileError extends Error {
  override name = "OrdersFileError";
}

/** A bad line, and everything that is wrong with it. */
export interface BadLine {
  line: number;
  problems: string[];
}

/** How to follow a check. */
export interface CheckListeners {
  /** Called for each bad line and awaited: they may not all fit in memory. Without it, the first one is thrown. */
  onBad?: (bad: BadLine) => Promise<void>;
  /** Called with the number of bytes checked so far. */
  onRead?: (bytes: number) => void;
}

/**
 * Checks every line of an orders file, and that no id repeats.
 *
 * @returns how many lines there are that are not blank, and how many of them are bad.
 * @throws OrdersFileError when the file is a pipe or can't be read and, without `onBad`, at the first bad line.
 */
export async function checkOrders(
  path: string,
  { onBad = throwBadLine(path), onRead }: CheckListeners = {},
): Promise<{ orders: number; bad: number }> {
  // Opening a pipe would wait for its writer, and reading it a second time would find it empty.
  if ((await stat(path).catch(() => undefined))?.isFIFO()) {
    throw new OrdersFileError(`${path} is a pipe, and an orders file is read twice`);
  }
  const ids = new RepeatedIds();
  let orders = 0;
  let bad = 0;
  for await (const block of readOrderLines(path, onRead)) {
    orders += block.length;
    for (const order of block) {
      if ("item" in order) ids.add(orderId(order.item));
      else {
        bad++;
        await onBad(order);
      }
    }
  }
  const repeated = ids.find();
  if (repeated.size > 0) bad += await reportRepeatedIds(path, repeated, onBad);
  return { orders, bad };
}

/** An import would write the first order with an id and skip the others; which one is meant is not ours to choose. */
async function reportRepeatedIds(
  path: string,
  repeated: Set<bigint>,
  onBad: (bad: BadLine) => Promise<void>,
): Promise<number> {
  const firstLine = new Map<bigint, number>();
  let bad = 0;
  for await (const block of readOrderLines(path)) {
    for (const order of block) {
      const id = "item" in order ? orderId(order.item) : undefined;
      if (id === undefined || !repeated.has(id)) continue;
      const first = firstLine.get(id);
      if (first === undefined) firstLine.set(id, order.line);
      else {
        bad++;
        await onBad({ line: order.line, problems: [`id ${id} is already on line ${first}`] });
      }
    }
  }
  return bad;
}

/**
 * Reads the orders of a file that `checkOrders` found to hold this many and no bad line.
 *
 * @throws OrdersFileError when the file has changed since, or can't be read any more.
 */
export async function* readOrders(path: string, orders: number): AsyncGenerator<OrderItem, void, void> {
  let count = 0;
  for await (const block of readOrderLines(path)) {
    for (const order of block) {
      if (!("item" in order) || ++count > orders) {
        throw new OrdersFileError(
          `${path} changed while it was being read: line ${order.line} is not what was checked`,
        );
      }
      yield order.item;
    }
  }
  if (count < orders) {
    throw new OrdersFileError(`${path} changed while it was being read: ${count} of ${orders} orders are left`);
  }
}

async function* readOrderLines(
  path: string,
  onRead?: (bytes: number) => void,
): AsyncGenerator<(OrderLine & { line: number })[], void, void> {
  try {
    for await (const block of readLines(path, onRead)) {
      yield block.map(({ number, text }) => ({
        line: number,
        ...(text === undefined ? { problems: [`longer than ${longestLine} bytes`] } : parseOrderLine(text)),
      }));
    }
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
    throw new OrdersFileError(`${path}: ${getSystemErrorMessage(Number(error.errno))}`);
  }
}

function throwBadLine(path: string): (bad: BadLine) => Promise<never> {
  return async ({ line, problems }) => {
    throw new OrdersFileError(`${path}, line ${line}: ${problems.join("; ")}`);
  };
}

function orderId({ id }: OrderItem): bigint {
  if (id?.N === undefined) throw new Error("A checked order has no id");
  return BigInt(id.N);
}
