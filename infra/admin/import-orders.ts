import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { callersPath } from "../local/machine/callers-path.ts";
import {
  BadLinesError,
  checkOrders,
  type NumberedOrder,
  type OrdersFile,
  readNumberedOrders,
} from "../orders-file/orders-file.ts";
import { CommandError, fileError } from "../terminal/errors.ts";
import { standardInput } from "../terminal/input.ts";
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
    try {
      const total = await checkFile(file, signal);
      return await work({ table: target.ordersTable, file, total, calls, signal });
    } catch (error) {
      if (error instanceof BadLinesError) return badLinesResult(error);
      throw error;
    }
  });
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
    throw fileError(typed, error);
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
    throw fileError(`${name}, copied to ${path}`, error);
  });
  return { name, path };
}

/**
 * Checks every line of a file. Returns the number of orders.
 *
 * @throws BadLinesError when a line is bad; CommandError when there are no orders: the command
 * before this one in a pipe may have failed.
 */
async function checkFile(file: OrdersFile, signal: AbortSignal): Promise<number> {
  const { size } = await stat(file.path);
  const progress = startProgress("Checking", "MB", size / 1e6);
  const onRead = (bytes: number): void => {
    if (signal.aborted) throw new CommandError("Interrupted: nothing was written");
    progress.update(bytes / 1e6);
  };
  const orders = await checkOrders(file, onRead).finally(() => progress.stop());
  if (orders === 0) throw new CommandError(`${file.name} has no orders`);
  return orders;
}

/**
 * Writes the orders of a checked file whose ids are not in the table yet. Orders being written when
 * the signal aborts are finished, so that the counts are right.
 *
 * @returns a rejection unless every order is now in the table as it is in the file.
 */
async function writeOrders(job: Import): Promise<Result> {
  const { table, file, total, calls, signal } = job;
  const differing = new Differing();
  const progress = startProgress("Writing", "orders", total);
  let written = 0;
  let present = 0;
  const write = async ({ line, item }: NumberedOrder, stop: AbortSignal): Promise<void> => {
    const unmet = await calls.insert(table, "id", item, stop);
    if (unmet) {
      present++;
      differing.compare(line, item, unmet.found);
    } else {
      written++;
    }
    progress.update(written + present);
  };
  const reason = await workThrough(readNumberedOrders(file, total), write, signal);
  progress.stop();
  const different = differing.count;
  const notWritten = total - written - present;
  const counts = { written, alreadyThere: present - different, different, notWritten };
  return differing.result(job, counts, "write", reason);
}

function badLinesResult({ message, lineCount, bad }: BadLinesError): Result {
  const counts = { orders: lineCount, written: 0, alreadyThere: 0, notWritten: lineCount };
  return {
    json: { badLines: bad.first, bad: bad.count, ...counts },
    note: message,
    rejected: true,
  };
}
