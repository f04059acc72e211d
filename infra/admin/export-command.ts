import { createWriteStream } from "node:fs";
import { realpath, rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { callersPath } from "./callers-path.ts";
import { findTarget, type GlobalOptions } from "./command.ts";
import { type Exported, exportOrders } from "./export-orders.ts";
import { Refusal } from "./refusal.ts";
import { jsonText, printable } from "./terminal-text.ts";

/** Writes every order to a file, which is replaced only by a whole export, or to standard output. */
export async function exportCommand(command: Command, name: string | undefined): Promise<void> {
  const file = name === undefined ? undefined : await replaceable(callersPath(name), name);
  const target = await findTarget(command);
  const exported: Exported = { orders: 0, leftOut: 0 };
  const lines = exportOrders(target, exported, (why) => process.stderr.write(`${printable(why)}\n`));
  if (file === undefined) await pipeline(lines, process.stdout, { end: false });
  else await writeWhole(lines, file);
  target.client.destroy();
  const where = name === undefined ? "" : ` to ${printable(name)}`;
  const leftOut = exported.leftOut === 0 ? "" : `, ${exported.leftOut} left out`;
  const text = `${exported.orders} orders exported${where}${leftOut}`;
  const json = command.optsWithGlobals<GlobalOptions>().json;
  // Without a file, standard output is the orders' alone.
  (file === undefined ? process.stderr : process.stdout).write(`${json ? jsonText(exported) : text}\n`);
  if (exported.leftOut > 0) process.exitCode = 1;
}

async function writeWhole(lines: AsyncIterable<string>, file: string): Promise<void> {
  const partial = `${file}.${process.pid}.partial`;
  try {
    await pipeline(lines, createWriteStream(partial, { flags: "wx" }));
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** The real path of what may be replaced: nothing yet, or a regular file, but no device, pipe or folder. */
async function replaceable(path: string, name: string): Promise<string> {
  const existing = await stat(path).catch(() => undefined);
  if (!existing) return path;
  if (!existing.isFile()) throw new Refusal(`${name} is not a regular file; without one, orders go to standard output`);
  return realpath(path);
}
