import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import type { OrderItem } from "../../shared/order.ts";
import { callersPath } from "../local/machine/callers-path.ts";
import {
  BadLinesError,
  checkOrders,
  type OrdersFile,
  readOrders,
  rethrowNaming,
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
 * Imports the file that the command line names, or standard input, or only compares it with the
 * table, until it is done or the operator interrupts it. A file with a bad line, or with no order
 * at all, is rejected as a whole.
 */
export function importCommand(name: string, { check = false }, command: Command): Promise<void> {
  return run(command, async (target) => {
    const signal = interruption();
    await using cleanUp = new AsyncDisposableStack();
    const file = await readableTwice(name, cleanUp, signal);
    const calls = pacedCalls(command, target, check ? "reads" : "writes");
    const work = check ? compareOrders : writeOrders;
    const workOnFile = async (): Promise<Result> => {
      const total = await checkFile(file, signal);
      if (total === 0) return noOrders(file);
      return await work({ table: target.ordersTable, file, total, calls, signal });
    };
    return await workOnFile().catch(badLinesResult);
  });
}

/** A command before this one in a pipe may have failed. */
function noOrders({ name }: OrdersFile): Result {
  const json = { badLines: [], orders: 0 };
  return { json, note: `${printable(name)} has no orders`, rejected: true };
}

/** The file itself or, of a pipe or standard input, a copy that `cleanUp` removes. */
async function readableTwice(
  typed: string,
  cleanUp: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<OrdersFile> {
  const isStandardInput = typed === "-";
  const name = isStandardInput ? "standard input" : typed;
  const given = isStandardInput ? undefined : callersPath(typed);
  const stats = given === undefined ? undefined : await stat(given).catch(rethrowNaming(name));
  if (stats?.isDirectory()) throw new CommandError(`${name} is a folder`);
  if (given !== undefined && stats?.isFile()) return { name, path: given };
  const folder = await mkdtemp(join(tmpdir(), "orders-import-"));
  cleanUp.defer(() => rm(folder, { recursive: true }));
  const path = join(folder, "orders.ndjson");
  const source = given === undefined ? standardInput() : createReadStream(given);
  await pipeline(source, createWriteStream(path), { signal }).catch(
    rethrowNaming(`${name}, copied to ${path}`),
  );
  return { name, path };
}

/** Checks every line of a file, until the signal aborts, and returns how many orders it has. */
async function checkFile(file: OrdersFile, signal: AbortSignal): Promise<number> {
  const { size } = await stat(file.path);
  const progress = startProgress("Checking", "bytes", size);
  const onRead = (bytes: number): void => {
    if (signal.aborted) throw new CommandError("Interrupted: nothing was written");
    progress.update(bytes);
  };
  return await checkOrders(file, onRead).finally(() => progress.stop());
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
    if (unmet === undefined) written++;
    else {
      alreadyThere++;
      differing.compare(order, unmet.found ?? {});
    }
    progress.update(written + alreadyThere);
  };
  const reason = await workThrough(readOrders(file, total), write, signal);
  progress.stop();
  const notWritten = total - written - alreadyThere;
  return {
    text:
      `${counted(total, "order")}: ${written} written, ${alreadyThere} already there, ` +
      `${notWritten} not written`,
    json: {
      badLines: [],
      orders: total,
      written,
      alreadyThere,
      notWritten,
      differ: differing.count,
      differing: differing.first,
    },
    note: differing.note(reason && `${reason}. Run it again to write the rest.`),
    rejected: reason !== undefined,
  };
}

/**
 * The result for a file with bad lines.
 *
 * @throws the error itself when it is any other.
 */
function badLinesResult(error: unknown): Result {
  if (!(error instanceof BadLinesError)) throw error;
  const { message, orders, bad } = error;
  const badLines = bad.first.map((line) => ({
    ...line,
    problems: line.problems.map(({ text }) => text),
  }));
  const json = {
    badLines,
    bad: bad.count,
    orders,
    written: 0,
    alreadyThere: 0,
    notWritten: orders,
  };
  return { text: "", note: message, json, rejected: true };
}
