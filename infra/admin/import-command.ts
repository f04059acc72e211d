import { type FileHandle, open } from "node:fs/promises";
import type { Command } from "commander";
import { checkOrderFile, readOrders } from "../orders-file/orders-file.ts";
import { callersPath } from "./callers-path.ts";
import { findTarget, type GlobalOptions } from "./command.ts";
import { faultLine } from "./fault-line.ts";
import { importReport } from "./import-report.ts";
import { startProgress } from "./progress.ts";
import { Refusal } from "./refusal.ts";
import { writeOrders } from "./write-orders.ts";

/** Checks the whole file, then writes its orders: nothing is written while a line is bad. */
export async function importCommand(command: Command, name: string): Promise<void> {
  await using file = await open(callersPath(name));
  const { size } = await regular(file, name);
  const target = await findTarget(command);
  const report = importReport(name, command.optsWithGlobals<GlobalOptions>().json ?? false);

  const checking = startProgress(process.stderr, { title: "Checking", unit: "bytes", total: size });
  const { orders, bad } = await checkOrderFile(file, report.bad, checking.done).finally(checking.stop);
  if (bad > 0) {
    await report.end({ orders, bad, written: 0, alreadyThere: 0 });
    process.exitCode = 1;
    return;
  }

  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, interrupt);
  const writing = startProgress(process.stderr, { title: "Writing", unit: "orders", total: orders });
  const { failure, ...counts } = await writeOrders(target, readOrders(file, orders), interrupted.signal, writing.done);
  writing.stop();
  target.client.destroy();
  await report.end({ orders, bad, ...counts });
  if (counts.written + counts.alreadyThere === orders && failure === undefined) return;
  const reason = failure === undefined ? "Interrupted" : faultLine(failure);
  process.stderr.write(`${reason}. Run it again to write the rest.\n`);
  process.exitCode = 1;
}

/** A pipe could not be read twice. */
async function regular(file: FileHandle, name: string): Promise<{ size: number }> {
  const stat = await file.stat();
  if (!stat.isFile()) throw new Refusal(`${name} is not a regular file; an import reads its file twice`);
  return stat;
}
