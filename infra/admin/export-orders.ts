import { createWriteStream } from "node:fs";
import { chmod, realpath, rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { OrderItem } from "../../shared/order.ts";
import { formatOrderLine } from "../orders-file/order-line.ts";
import { fileError } from "../terminal/errors.ts";
import { callersPath } from "../terminal/input.ts";
import { counted, grouped, printable } from "../terminal/text.ts";
import { type Result, readTable, type Session } from "./command.ts";
import { printLine } from "./progress.ts";

/** Exports every order to the file that the command line names, or to standard output. */
export async function exportOrders(
  session: Session,
  name = "-",
  { table }: { table?: string },
): Promise<Result> {
  const isPrinted = name === "-" || name === "/dev/stdout";
  const counts = { orders: 0, skipped: 0 };
  const lines = async function* (): AsyncIterable<string> {
    for await (const order of readTable(session, "Exporting", { table, isPrinted }))
      yield formatLine(order, counts);
  };
  if (isPrinted) await pipeline(lines, process.stdout, { end: false });
  else await writeLines(session, name, lines);
  const where = isPrinted ? "" : ` to ${printable(name)}`;
  const skipped = counts.skipped === 0 ? "" : `, skipped ${grouped(counts.skipped)}`;
  const text = `Exported ${counted(counts.orders, "order")}${where}${skipped}`;
  // Standard output that has orders has nothing else.
  const printed = isPrinted ? { notes: [text] } : { text, json: counts };
  return { ...printed, rejected: counts.skipped > 0 };
}

/**
 * The line of an orders file for an order. It is empty for an order whose id is not a 64-bit
 * integer, which is named on standard error. Counts both.
 */
export function formatLine(
  order: OrderItem,
  counts: { orders: number; skipped: number },
): string {
  const line = formatOrderLine(order);
  if (line !== undefined) {
    counts.orders++;
    return `${line}\n`;
  }
  counts.skipped++;
  const id = printable(String(order["id"]?.N));
  printLine(`Order ${id} skipped: id is not a 64-bit integer`, process.stderr);
  return "";
}

/**
 * Writes lines to a file, device or pipe. A file is replaced, keeping its mode, once all lines are
 * written to another one beside it. With a device or pipe, a signal ends the process, even while no
 * one reads the pipe.
 */
async function writeLines(
  session: Session,
  name: string,
  lines: () => AsyncIterable<string>,
): Promise<void> {
  const path = await realpath(callersPath(name)).catch(() => callersPath(name));
  const existing = await stat(path).catch(() => undefined);
  const partial = `${path}.${process.pid}.partial`;
  try {
    if (existing?.isFile() === false)
      return await pipeline(lines, createWriteStream(path));
    const signal = session.interruptible();
    const mode = existing?.mode ?? 0o666;
    await pipeline(lines, createWriteStream(partial, { flags: "wx", mode }), { signal });
    // The umask may have removed some permissions.
    if (existing) await chmod(partial, mode);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw fileError(name, error);
  }
}
