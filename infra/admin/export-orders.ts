import { createWriteStream } from "node:fs";
import { chmod, realpath, rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import type { Command } from "commander";
import type { OrderItem } from "../../shared/order.ts";
import { callersPath } from "../local/machine/callers-path.ts";
import { formatOrderLine } from "../orders-file/order-line.ts";
import { rethrowNaming } from "../orders-file/orders-file.ts";
import { jsonText, printable } from "../orders-file/printable.ts";
import { findTarget, type GlobalOptions, interruption, pacedCalls } from "./command.ts";
import { startProgress } from "./progress.ts";
import type { TableCalls } from "./table-calls.ts";
import type { Target } from "./target.ts";
import { counted } from "./terminal.ts";

/** Exports every order to the file that the command line names, or to standard output. */
export async function exportCommand(command: Command, name = "-", table?: string): Promise<void> {
  const found = await findTarget(command);
  const target = { ...found, ordersTable: table ?? found.ordersTable };
  const calls = pacedCalls(command, target, "reads");
  const { stdout, stderr } = process;
  const toStdout = name === "-" || name === "/dev/stdout";
  // Orders that scroll by leave no place for a bar.
  const total = stderr.isTTY && !(toStdout && stdout.isTTY) ? await countRoughly(target) : undefined;
  const progress =
    total === undefined ? undefined : startProgress(stderr, { title: "Exporting", unit: "orders", total });
  const counts: ExportCounts = { orders: 0, skipped: 0 };
  const signal = interruption();
  const lines = exportOrders(target, calls, counts, {
    signal,
    onPage: () => progress?.done(counts.orders + counts.skipped),
    onSkipped: (why) => {
      progress?.stop();
      stderr.write(`${printable(why)}\n`);
    },
  });
  const written = toStdout ? pipeline(lines, stdout, { end: false, signal }) : writeFile(name, lines, signal);
  await written.finally(() => {
    progress?.stop();
    target.client.destroy();
  });
  const where = toStdout ? "" : ` to ${printable(name)}`;
  const skipped = counts.skipped === 0 ? "" : `, skipped ${counts.skipped}`;
  const text = `Exported ${counted(counts.orders, "order")}${where}${skipped}`;
  const { json } = command.optsWithGlobals<GlobalOptions>();
  // Standard output that has orders holds nothing else.
  (toStdout ? stderr : stdout).write(`${json ? jsonText(counts) : text}\n`);
  if (counts.skipped > 0) process.exitCode = 1;
}

/** DynamoDB counts its items every six hours, and not everyone may ask. */
async function countRoughly({ client, ordersTable }: Target): Promise<number> {
  const described = client.send(new DescribeTableCommand({ TableName: ordersTable }));
  return described.then(({ Table }) => Table?.ItemCount ?? 0).catch(() => 0);
}

/**
 * Writes to a device or pipe as it is. A file is replaced, keeping its mode, only once all lines are written; until then
 * they go to a file beside it.
 */
async function writeFile(name: string, lines: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  const path = await realpath(callersPath(name)).catch(() => callersPath(name));
  const existing = await stat(path).catch(() => undefined);
  const inPlace = existing !== undefined && !existing.isFile();
  const partial = inPlace ? path : `${path}.${process.pid}.partial`;
  const mode = existing?.mode ?? 0o666;
  try {
    await pipeline(lines, createWriteStream(partial, { flags: inPlace ? "w" : "wx", mode }), { signal });
    if (inPlace) return;
    // The umask may have taken something away.
    if (existing) await chmod(partial, mode);
    await rename(partial, path);
  } catch (error) {
    if (!inPlace) await rm(partial, { force: true });
    rethrowNaming(name)(error);
  }
}

/** The numbers of orders that an export has written so far, and that it could not write. */
export interface ExportCounts {
  orders: number;
  skipped: number;
}

/** Options of an export, and how to follow it. */
export interface ExportOptions {
  /** Chooses the orders; all unless given. */
  wanted?: (order: OrderItem) => boolean;
  /** Writes an order's line, in the format of an import unless given. */
  format?: (order: OrderItem) => string;
  /** Stops it. */
  signal?: AbortSignal;
  /** Called with one line about each order that can't be written, because its id is not a 64-bit integer. */
  onSkipped: (why: string) => void;
  /** Called after each page of the table. */
  onPage?: () => void;
}

/**
 * Reads every order of the table, consistently, as lines for an import, a page of the table at a time.
 *
 * @param counts is kept up to date.
 * @throws EmptyResponseError, and what the DynamoDB client throws.
 */
export async function* exportOrders(
  { ordersTable }: Target,
  calls: TableCalls,
  counts: ExportCounts,
  { wanted, format = formatOrderLine, signal, onSkipped, onPage }: ExportOptions,
): AsyncGenerator<string, void, void> {
  for await (const page of calls.scan(ordersTable, signal)) {
    let lines = "";
    for (const item of wanted ? page.filter(wanted) : page) {
      try {
        lines += `${format(item)}\n`;
        counts.orders++;
      } catch (error) {
        onSkipped(`Order ${item["id"]?.N} skipped: ${error instanceof Error ? error.message : error}`);
        counts.skipped++;
      }
    }
    onPage?.();
    yield lines;
  }
}
