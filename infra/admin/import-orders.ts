import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import type { OrderItem } from "../../shared/order.ts";
import { callersPath } from "../local/machine/callers-path.ts";
import {
  BadLinesError,
  checkOrders,
  namingFile,
  type OrdersFile,
  readOrders,
} from "../orders-file/orders-file.ts";
import { counted } from "../terminal/counted.ts";
import { CommandError } from "../terminal/errors.ts";
import { standardInput } from "../terminal/input.ts";
import { printable } from "../terminal/printable.ts";
import { interruption, pacedCalls, type Result, run } from "./command.ts";
import { compareOrders, Differing, type Import } from "./compare-orders.ts";
import { startProgress } from "./progress.ts";
import { workThrough } from "./work-through.ts";

/**
 * Imports an orders file, or standard input; with `check`, only compares it with the table. Ctrl-C
 * interrupts it. A file with a bad line, or without orders, is rejected as a whole.
 */
export function importCommand(name: string, { check = false }, command: Command): Promise<void> {
  return run(command, async (target) => {
    const signal = interruption();
    await using cleanUp = new AsyncDisposableStack();
    const file = await readableTwice(name, cleanUp, signal);
    const calls = pacedCalls(command, target, check ? "reads" : "writes");
    const work = check ? compareOrders : writeOrders;
    const total = await checkFile(file, signal);
    if (total instanceof BadLinesError) return badLinesResult(total);
    if (total === 0) return noOrders(file);
    return await work({ table: target.ordersTable, file, total, calls, signal });
  });
}

/** Rejects an empty file: the command before this one in a pipe may have failed. */
function noOrders({ name }: OrdersFile): Result {
  const json = { badLines: [], orders: 0 };
  return { json, note: `${printable(name)} has no orders`, rejected: true };
}

/**
 * Returns a file that can be read twice: the file itself or, for a pipe or standard input, a
 * temporary copy that `cleanUp` removes.
 */
async function readableTwice(
  typed: string,
  cleanUp: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<OrdersFile> {
  if (typed === "-") return await copyOf(standardInput, "standard input", cleanUp, signal);
  const path = callersPath(typed);
  const stats = await stat(path).catch((error) => {
    throw namingFile(typed, error);
  });
  if (stats.isDirectory()) throw new CommandError(`${typed} is a folder`);
  if (stats.isFile()) return { name: typed, path };
  return await copyOf(() => createReadStream(path), typed, cleanUp, signal);
}

async function copyOf(
  open: () => Readable,
  name: string,
  cleanUp: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<OrdersFile> {
  const folder = await mkdtemp(join(tmpdir(), "orders-import-"));
  cleanUp.defer(() => rm(folder, { recursive: true }));
  const path = join(folder, "orders.ndjson");
  await pipeline(open(), createWriteStream(path), { signal }).catch((error) => {
    throw namingFile(`${name}, copied to ${path}`, error);
  });
  return { name, path };
}

/** Checks every line of a file. Returns the number of orders, or the error that lists bad lines. */
async function checkFile(file: OrdersFile, signal: AbortSignal): Promise<number | BadLinesError> {
  const { size } = await stat(file.path);
  const progress = startProgress("Checking", "bytes", size);
  const onRead = (bytes: number): void => {
    if (signal.aborted) throw new CommandError("Interrupted: nothing was written");
    progress.update(bytes);
  };
  try {
    return await checkOrders(file, onRead);
  } catch (error) {
    if (error instanceof BadLinesError) return error;
    throw error;
  } finally {
    progress.stop();
  }
}

/**
 * Writes the orders of a checked file whose ids are not in the table yet. Orders being written when
 * the signal aborts are finished, so that the counts are right.
 *
 * @returns a rejection unless every order is now in the table.
 */
async function writeOrders({ table, file, total, calls, signal }: Import): Promise<Result> {
  const progress = startProgress("Writing", "orders", total);
  const differing = new Differing();
  let written = 0;
  let alreadyThere = 0;
  const write = async (order: OrderItem, stop: AbortSignal): Promise<void> => {
    const unmet = await calls.insert(table, "id", order, stop);
    const wasWritten = unmet === undefined;
    if (wasWritten) {
      written++;
    } else {
      alreadyThere++;
      const existing = unmet.found;
      if (existing === undefined) differing.addUnseen(order);
      else differing.compare(order, existing);
    }
    progress.update(written + alreadyThere);
  };
  const reason = await workThrough(readOrders(file, total), write, signal);
  progress.stop();
  const notWritten = total - written - alreadyThere;
  const { count: differ, first } = differing;
  const counts = { orders: total, written, alreadyThere, notWritten, differ };
  return {
    text:
      `${counted(total, "order")}: ${written} written, ${alreadyThere} already there, ` +
      `${notWritten} not written`,
    json: { badLines: [], ...counts, differing: first },
    note: differing.note(reason && `${reason}. Run it again to write the rest.`),
    rejected: reason !== undefined,
  };
}

function badLinesResult({ message, lineCount, bad }: BadLinesError): Result {
  const badLines = bad.first.map((line) => ({
    ...line,
    problems: line.problems.map(({ text }) => text),
  }));
  const orders = lineCount;
  const counts = { bad: bad.count, orders, written: 0, alreadyThere: 0, notWritten: orders };
  return { json: { badLines, ...counts }, note: message, rejected: true };
}
