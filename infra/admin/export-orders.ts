import { createWriteStream } from "node:fs";
import { realpath, rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { paginateScan } from "@aws-sdk/client-dynamodb";
import type { Command } from "commander";
import { EmptyResponseError } from "../../shared/dynamodb.ts";
import type { OrderItem } from "../../shared/order.ts";
import { callersPath } from "../local/machine/callers-path.ts";
import { formatOrderLine } from "../orders-file/order-line.ts";
import { findTarget, type GlobalOptions } from "./command.ts";
import { CommandError } from "./errors.ts";
import type { Target } from "./target.ts";
import { counted, jsonText, printable } from "./terminal.ts";

/** Exports every order to the file that the command line names, or to standard output. */
export async function exportCommand(command: Command, name: string | undefined): Promise<void> {
  const file = name === undefined ? undefined : await replaceablePath(callersPath(name), name);
  const target = await findTarget(command);
  const counts: ExportCounts = { orders: 0, skipped: 0 };
  const lines = exportOrders(target, counts, (why) => process.stderr.write(`${printable(why)}\n`));
  if (file === undefined) await pipeline(lines, process.stdout, { end: false });
  else await replaceFile(file, lines);
  target.client.destroy();
  const where = name === undefined ? "" : ` to ${printable(name)}`;
  const skipped = counts.skipped === 0 ? "" : `, skipped ${counts.skipped}`;
  const text = `Exported ${counted(counts.orders, "order")}${where}${skipped}`;
  const json = command.optsWithGlobals<GlobalOptions>().json;
  // Without a file, standard output holds nothing but orders.
  (file === undefined ? process.stderr : process.stdout).write(`${json ? jsonText(counts) : text}\n`);
  if (counts.skipped > 0) process.exitCode = 1;
}

/** How many orders an export has written so far, and how many it could not. */
export interface ExportCounts {
  orders: number;
  skipped: number;
}

/**
 * Reads every order of the table, consistently, as lines for an import, a page of the table at a time.
 *
 * @param counts is kept up to date.
 * @param onSkipped called with one line about each order that can't be written, such as one with an unknown status.
 * @throws EmptyResponseError, and what the DynamoDB client throws.
 */
export async function* exportOrders(
  { client, ordersTable }: Target,
  counts: ExportCounts,
  onSkipped: (why: string) => void,
): AsyncGenerator<string, void, void> {
  for await (const { Items } of paginateScan({ client }, { TableName: ordersTable, ConsistentRead: true })) {
    if (Items === undefined) throw new EmptyResponseError("Scan");
    let lines = "";
    for (const item of Items) {
      const line = lineOf(item, onSkipped);
      if (line === undefined) counts.skipped++;
      else {
        counts.orders++;
        lines += `${line}\n`;
      }
    }
    yield lines;
  }
}

function lineOf(item: OrderItem, onSkipped: (why: string) => void): string | undefined {
  try {
    return formatOrderLine(item);
  } catch (error) {
    onSkipped(`Order ${item["id"]?.N} skipped: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/** Replaces the file only once all lines are written; until then they go to a file beside it. */
async function replaceFile(file: string, lines: AsyncIterable<string>): Promise<void> {
  const partial = `${file}.${process.pid}.partial`;
  try {
    await pipeline(lines, createWriteStream(partial, { flags: "wx" }));
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** The real path of a new or regular file. Devices, pipes and folders can't be replaced. */
async function replaceablePath(path: string, name: string): Promise<string> {
  const existing = await stat(path).catch(() => undefined);
  if (!existing) return path;
  if (!existing.isFile()) {
    throw new CommandError(`${name} is not a regular file. Without a file, orders go to standard output`);
  }
  return realpath(path);
}
