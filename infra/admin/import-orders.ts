import { once } from "node:events";
import { stat } from "node:fs/promises";
import type { Writable } from "node:stream";
import type { Command } from "commander";
import { callersPath } from "../local/machine/callers-path.ts";
import { type BadLine, checkOrders, readOrders } from "../orders-file/orders-file.ts";
import { findTarget, type GlobalOptions } from "./command.ts";
import { CommandError, errorLine } from "./errors.ts";
import { startProgress } from "./progress.ts";
import type { Target } from "./target.ts";
import { counted, jsonText, printable } from "./terminal.ts";
import { writeOrders } from "./write-orders.ts";

/** The inputs and outputs of an import. */
export interface Import {
  target: Target;
  /** The file's name as the operator wrote it, and its path. */
  file: { name: string; path: string };
  /** Receives the counts and, with `json`, the bad lines. */
  stdout: Writable;
  /** Receives everything else, progress on a terminal included. */
  stderr: Writable;
  json: boolean;
  /** Stops it; orders being written are finished. */
  signal: AbortSignal;
}

/** Imports the file that the command line names, until it is done or the operator interrupts it. */
export async function importCommand(command: Command, name: string): Promise<void> {
  const file = { name, path: callersPath(name) };
  await regularFileSize(file);
  const target = await findTarget(command);
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interrupted.abort());
  const { stdout, stderr } = process;
  const json = command.optsWithGlobals<GlobalOptions>().json ?? false;
  const whole = await importOrders({ target, file, stdout, stderr, json, signal: interrupted.signal });
  target.client.destroy();
  if (!whole) process.exitCode = 1;
}

/**
 * Checks every line of a file, then writes its orders; a file with a bad line is not imported at all.
 *
 * @returns whether every order of the file is now in the table.
 * @throws CommandError or OrdersFileError when the file can't be read, or the check is interrupted.
 */
export async function importOrders({ target, file, stdout, stderr, json, signal }: Import): Promise<boolean> {
  const total = await regularFileSize(file);
  const report = json ? jsonReport(stdout) : textReport(printable(file.name), stdout, stderr);
  const checking = startProgress(stderr, { title: "Checking", unit: "bytes", total });
  const onRead = (bytes: number): void => {
    if (signal.aborted) throw new CommandError("Interrupted: nothing was written");
    checking.done(bytes);
  };
  const onBad = (line: BadLine): Promise<void> => {
    checking.stop();
    return report.bad(line);
  };
  const { orders, bad } = await checkOrders(file.path, { onBad, onRead }).finally(checking.stop);
  if (bad > 0) {
    await report.end({ orders, bad, written: 0, alreadyThere: 0 });
    return false;
  }
  const writing = startProgress(stderr, { title: "Writing", unit: "orders", total: orders });
  const options = { signal, onOrder: writing.done };
  const { failure, ...counts } = await writeOrders(target, readOrders(file.path, orders), options);
  writing.stop();
  await report.end({ orders, bad, ...counts });
  if (counts.written + counts.alreadyThere === orders && failure === undefined) return true;
  const reason = failure === undefined ? "Interrupted" : errorLine(failure);
  stderr.write(`${reason}. Run it again to write the rest.\n`);
  return false;
}

/** An import reads its file twice, which a pipe does not allow. */
async function regularFileSize({ name, path }: Import["file"]): Promise<number> {
  const stats = await stat(path);
  if (!stats.isFile()) throw new CommandError(`${name} is not a regular file, and an import reads its file twice`);
  return stats.size;
}

/** Reports bad lines as they are found: a file can have more than fit in memory. */
interface Report {
  bad(line: BadLine): Promise<void>;
  end(counts: { orders: number; bad: number; written: number; alreadyThere: number }): Promise<void>;
}

function textReport(name: string, stdout: Writable, stderr: Writable): Report {
  return {
    bad: ({ line, problems }) => write(stderr, `${name}:${line}: ${printable(problems.join("; "))}\n`),
    async end({ orders, bad, written, alreadyThere }) {
      if (bad > 0) return write(stderr, `${bad} of ${orders} lines are bad: nothing was written\n`);
      const notWritten = orders - written - alreadyThere;
      const counts = `${written} written, ${alreadyThere} already there, ${notWritten} not written`;
      await write(stdout, `${counted(orders, "order")}: ${counts}\n`);
    },
  };
}

function jsonReport(stdout: Writable): Report {
  let separator = '{"badLines":[';
  return {
    async bad(line) {
      await write(stdout, `${separator}\n${jsonText(line)}`);
      separator = ",";
    },
    async end({ orders, written, alreadyThere }) {
      const counts = { orders, written, alreadyThere, notWritten: orders - written - alreadyThere };
      const list = separator === "," ? "]" : `${separator}]`;
      await write(stdout, `${list},${jsonText(counts).slice(1)}\n`);
    },
  };
}

async function write(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, "drain");
}
