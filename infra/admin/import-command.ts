import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { checkOrders, readOrders } from "../orders-file/orders-file.ts";
import { callersPath } from "./callers-path.ts";
import { findTarget, type GlobalOptions } from "./command.ts";
import { faultLine } from "./fault-line.ts";
import { importReport } from "./import-report.ts";
import { startProgress } from "./progress.ts";
import { Refusal } from "./refusal.ts";
import { writeOrders } from "./write-orders.ts";

/** Checks the whole file, then writes its orders: nothing is written while a line is bad. */
export async function importCommand(command: Command, name: string): Promise<void> {
  const path = callersPath(name);
  const size = await regularFileSize(path, name);
  const target = await findTarget(command);
  const report = importReport(name, command.optsWithGlobals<GlobalOptions>().json ?? false);

  const checking = startProgress(process.stderr, { title: "Checking", unit: "bytes", total: size });
  const { orders, bad } = await checkOrders(path, { onBad: report.bad, onRead: checking.done }).finally(checking.stop);
  if (bad > 0) {
    await report.end({ orders, bad, written: 0, alreadyThere: 0 });
    process.exitCode = 1;
    return;
  }

  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, interrupt);
  const writing = startProgress(process.stderr, { title: "Writing", unit: "orders", total: orders });
  const { failure, ...counts } = await writeOrders(target, readOrders(path, orders), interrupted.signal, writing.done);
  writing.stop();
  target.client.destroy();
  await report.end({ orders, bad, ...counts });
  if (counts.written + counts.alreadyThere === orders && failure === undefined) return;
  const reason = failure === undefined ? "Interrupted" : faultLine(failure);
  process.stderr.write(`${reason}. Run it again to write the rest.\n`);
  process.exitCode = 1;
}

/** An import reads its file twice, which a pipe does not allow. */
async function regularFileSize(path: string, name: string): Promise<number> {
  const stats = await stat(path);
  if (!stats.isFile()) throw new Refusal(`${name} is not a regular file, and an import reads its file twice`);
  return stats.size;
}
