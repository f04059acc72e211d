import { createWriteStream } from "node:fs";
import { chmod, realpath, rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import type { Command } from "commander";
import type { OrderItem } from "../../shared/order.ts";
import { callersPath } from "../local/machine/callers-path.ts";
import { formatOrderLine } from "../orders-file/order-line.ts";
import { namingFile } from "../orders-file/orders-file.ts";
import { counted } from "../terminal/counted.ts";
import { printable } from "../terminal/printable.ts";
import { interruption, pacedCalls, type Result, run } from "./command.ts";
import { startProgress } from "./progress.ts";
import type { Target } from "./target.ts";

/** Exports every order to the file that the command line names, or to standard output. */
export function exportCommand(
  name = "-",
  options: { table?: string },
  command: Command,
): Promise<void> {
  return run(command, async (target) => {
    const { table = target.ordersTable } = options;
    const calls = pacedCalls(command, target, "reads");
    const toStdout = name === "-" || name === "/dev/stdout";
    const scrollsOrders = toStdout && process.stdout.isTTY;
    const hasBar = process.stderr.isTTY && !scrollsOrders;
    const progress = hasBar
      ? startProgress("Exporting", "orders", await approximateCount(target, table))
      : undefined;
    const counts = { orders: 0, skipped: 0 };
    const pages = async function* (signal?: AbortSignal): AsyncGenerator<string, void, void> {
      for await (const page of calls.scan(table, signal)) {
        const lines = formatLines(page, () => progress?.stop());
        counts.orders += lines.length;
        counts.skipped += page.length - lines.length;
        progress?.update(counts.orders + counts.skipped);
        yield lines.join("");
      }
    };
    const writing = toStdout
      ? pipeline(pages(), process.stdout, { end: false })
      : writeLines(name, pages);
    await writing.finally(() => progress?.stop());
    return exportResult(toStdout ? undefined : name, counts);
  });
}

/** @param file the file's name, unless the orders went to standard output. */
function exportResult(
  file: string | undefined,
  counts: { orders: number; skipped: number },
): Result {
  const where = file === undefined ? "" : ` to ${printable(file)}`;
  const skipped = counts.skipped === 0 ? "" : `, skipped ${counts.skipped}`;
  const text = `Exported ${counted(counts.orders, "order")}${where}${skipped}`;
  // Standard output that has orders has nothing else.
  const printed = file === undefined ? { note: text } : { text, json: counts };
  return { ...printed, rejected: counts.skipped > 0 };
}

/** How many orders a table had, up to six hours ago; 0 for an operator who may not ask. */
async function approximateCount({ client }: Target, table: string): Promise<number> {
  const describe = new DescribeTableCommand({ TableName: table });
  const described = await client.send(describe).catch(() => undefined);
  return described?.Table?.ItemCount ?? 0;
}

/**
 * The lines of an orders file for these orders. Skips an order whose id is not a 64-bit integer,
 * and names it on standard error, after a call of `beforeNotice`.
 */
export function formatLines(orders: OrderItem[], beforeNotice = (): void => {}): string[] {
  return orders.flatMap((item) => {
    const line = formatOrderLine(item);
    if (line !== undefined) return `${line}\n`;
    beforeNotice();
    process.stderr.write(
      `Order ${printable(String(item["id"]?.N))} skipped: id is not a 64-bit integer\n`,
    );
    return [];
  });
}

/**
 * Writes lines to a file, device or pipe. A file is replaced, keeping its mode, once all lines are
 * written to another one beside it. With a device or pipe, a signal ends the process, even while no
 * one reads the pipe.
 */
export async function writeLines(
  name: string,
  lines: (interrupted?: AbortSignal) => AsyncIterable<string>,
): Promise<void> {
  const path = await realpath(callersPath(name)).catch(() => callersPath(name));
  const existing = await stat(path).catch(() => undefined);
  if (existing?.isFile() === false) {
    return pipeline(lines(), createWriteStream(path)).catch((error) => {
      throw namingFile(name, error);
    });
  }
  const partial = `${path}.${process.pid}.partial`;
  const mode = existing?.mode ?? 0o666;
  const signal = interruption();
  try {
    const stream = createWriteStream(partial, { flags: "wx", mode });
    await pipeline(lines(signal), stream, { signal });
    // The umask may have removed some permissions.
    if (existing) await chmod(partial, mode);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw namingFile(name, error);
  }
}
