import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import type { OrderItem } from "../../shared/order.ts";
import { callersPath } from "../local/machine/callers-path.ts";
import { sameAttribute } from "../orders-file/attribute-json.ts";
import { Findings } from "../orders-file/findings.ts";
import {
  BadLinesError,
  checkOrders,
  type OrdersFile,
  readOrders,
  rethrowNaming,
} from "../orders-file/orders-file.ts";
import { CommandError } from "../terminal/errors.ts";
import { standardInput } from "../terminal/input.ts";
import { printable } from "../terminal/printable.ts";
import { counted } from "../terminal/text.ts";
import { interruption, pacedCalls, type Result, run } from "./command.ts";
import { startProgress } from "./progress.ts";
import type { TableCalls } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

/**
 * Imports the file that the command line names, or standard input, until it is done or the operator
 * interrupts it.
 */
export function importCommand(name: string, { check = false }, command: Command): Promise<void> {
  return run(command, async (target) => {
    const signal = interruption();
    await using cleanUp = new AsyncDisposableStack();
    const file = await readableTwice(name, cleanUp, signal);
    const calls = pacedCalls(command, target, check ? "reads" : "writes");
    return await importOrders(target.ordersTable, file, calls, check, signal).catch(badLines);
  });
}

/** The file itself or, of a pipe or standard input, a copy that `cleanUp` removes. */
async function readableTwice(
  typed: string,
  cleanUp: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<OrdersFile> {
  const [name, given] = typed === "-" ? ["standard input"] : [typed, callersPath(typed)];
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

/**
 * Checks every line of a file, then writes the orders whose ids are not in the table yet, or only
 * compares them; a file with a bad line is not imported at all. The result is a rejection unless
 * every order of the file is now in the table or, when it is only to be checked, the same in both.
 * The signal stops it; orders being written are finished, so that the counts are right.
 */
async function importOrders(
  table: string,
  file: OrdersFile,
  calls: TableCalls,
  check: boolean,
  signal: AbortSignal,
): Promise<Result> {
  const { size } = await stat(file.path);
  const checking = startProgress("Checking", "bytes", size);
  const onRead = (bytes: number): void => {
    if (signal.aborted) throw new CommandError("Interrupted: nothing was written");
    checking.update(bytes);
  };
  const total = await checkOrders(file, onRead).finally(() => checking.stop());
  const progress = startProgress(check ? "Comparing" : "Writing", "orders", total);
  const differing = new Findings<{ id: bigint; fields: string[] }>();
  let [there, lacking] = [0, 0];
  const handle = async (order: OrderItem, stop: AbortSignal): Promise<void> => {
    const { id = { N: "0" } } = order;
    const unmet = check ? undefined : await calls.insert(table, "id", order, stop);
    const found = check
      ? await calls.get({ TableName: table, Key: { id }, ConsistentRead: true }, stop)
      : unmet && (unmet.found ?? {});
    if (found) {
      there++;
      const names = Object.keys({ ...order, ...found }).sort();
      const fields = names.filter((name) => !sameAttribute(order[name], found[name]));
      if (fields.length > 0) differing.add(fields.join(", "), { id: BigInt(id.N ?? 0), fields });
    } else lacking++;
    progress.update(there + lacking);
  };
  const reason = await workThrough(readOrders(file, total), handle, signal);
  progress.stop();
  const differ = differing.count;
  const same = there - differ;
  const left = total - there - lacking;
  const text = check
    ? `${same} the same, ${differ} ${differ === 1 ? "differs" : "differ"}, ${lacking} missing${left > 0 ? `, ${left} not compared` : ""}`
    : `${lacking} written, ${there} already there, ${left} not written`;
  const counts = check
    ? { same, missing: lacking, notCompared: left }
    : { written: lacking, alreadyThere: there, notWritten: left };
  const note = [
    ...(total === 0 ? [`${file.name} has no orders`] : []),
    ...differing.first.map(
      ({ id, fields }) => `Order ${id} in the table differs: ${fields.join(", ")}`,
    ),
    ...differing.more,
    ...(reason === undefined
      ? []
      : [`${reason}. Run it again to ${check ? "check" : "write"} the rest.`]),
  ];
  return {
    text: `${counted(total, "order")}: ${text}`,
    json: { badLines: [], orders: total, ...counts, differ, differing: differing.first },
    note: note.map(printable).join("\n"),
    rejected: reason !== undefined || (check && same < total),
  };
}

/** The result for a file with bad lines. */
function badLines(error: unknown): Result {
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
