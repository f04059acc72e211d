import { createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { callersPath } from "../local/machine/callers-path.ts";
import {
  BadLinesError,
  checkOrders,
  type OrdersFile,
  readNumberedOrders,
} from "../orders-file/orders-file.ts";
import { CommandError, fileError } from "../terminal/errors.ts";
import type { Result, Session } from "./command.ts";
import { compareOrders, Differing, type Import } from "./compare-orders.ts";
import { inputName, openInput } from "./input-lines.ts";
import { startProgress } from "./progress.ts";
import { workThrough } from "./work-through.ts";

/**
 * Imports an orders file, or standard input; with `check`, only compares it with the table. Ctrl-C
 * interrupts it. A file with a bad line, or without orders, is rejected as a whole.
 */
export async function importOrders(
  session: Session,
  name: string,
  { check = false }: { check?: boolean },
): Promise<Result> {
  const signal = session.interruption();
  await using cleanUp = new AsyncDisposableStack();
  const file = await readableTwice(name, cleanUp, signal);
  const calls = session.calls(check ? "reads" : "writes");
  try {
    const total = await checkFile(file, signal);
    const job = { table: session.ordersTable, file, total, calls, signal };
    return await (check ? compareOrders(job) : writeOrders(job));
  } catch (error) {
    if (error instanceof BadLinesError) return badLinesResult(error);
    throw error;
  }
}

/**
 * Returns a file that can be read twice: the file itself or, for a pipe or standard input, a
 * temporary copy that `cleanUp` removes.
 */
async function readableTwice(
  file: string,
  cleanUp: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<OrdersFile> {
  const name = inputName(file);
  const path = callersPath(file);
  if (file !== "-") {
    const stats = await stat(path).catch((error) => {
      throw fileError(name, error);
    });
    if (stats.isDirectory()) throw new CommandError(`${name} is a folder`);
    if (stats.isFile()) return { name, path };
  }
  const folder = await mkdtemp(join(tmpdir(), "orders-import-"));
  cleanUp.defer(() => rm(folder, { recursive: true }));
  const copy = join(folder, "orders.ndjson");
  await pipeline(openInput(file), createWriteStream(copy), { signal }).catch((error) => {
    throw fileError(`${name}, copied to ${copy}`, error);
  });
  return { name, path: copy };
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
  const counts = { written: 0, alreadyThere: 0, different: 0 };
  const { done, reason } = await workThrough({
    title: "Writing",
    unit: "orders",
    total,
    items: readNumberedOrders(file, total),
    async *work({ line, item }, stop) {
      const unmet = await calls.insert(table, "id", item, stop);
      if (!unmet) yield "written";
      else yield differing.compare(line, item, unmet.found) ? "different" : "alreadyThere";
    },
    counts,
    signal,
  });
  return differing.result(job, { ...counts, notWritten: total - done }, "write", reason);
}

function badLinesResult({ message, lineCount, bad }: BadLinesError): Result {
  const counts = { orders: lineCount, written: 0, alreadyThere: 0, notWritten: lineCount };
  return {
    json: { badLines: bad.first, bad: bad.count, ...counts },
    notes: [message],
    rejected: true,
  };
}
