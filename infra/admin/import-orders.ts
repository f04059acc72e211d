import { createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../shared/order.ts";
import { differingAttributes, plainValue } from "../orders-file/attribute-json.ts";
import {
  BadLinesError,
  batches,
  batchSize,
  checkOrders,
  Findings,
  fileReport,
  type OrdersFile,
  readNumberedOrders,
} from "../orders-file/orders-file.ts";
import { CommandError, fileError } from "../terminal/errors.ts";
import { callersPath, inputName, openInput } from "../terminal/input.ts";
import { counted, countsText, jsonText } from "../terminal/text.ts";
import { type Result, type Session, workThrough } from "./command.ts";
import { startProgress } from "./progress.ts";

/** The longest value that is shown whole, in characters. */
const longestValue = 60;

/**
 * Imports an orders file, or standard input; with `check`, only compares it with the table. Ctrl-C
 * interrupts it. A file with a bad line, or without orders, is rejected as a whole.
 */
export async function importOrders(
  session: Session,
  name: string,
  { check = false }: { check?: boolean },
): Promise<Result> {
  const signal = session.interruptible();
  await using cleanUp = new AsyncDisposableStack();
  const file = await readableTwice(name, cleanUp, signal);
  try {
    const total = await checkFile(file, signal);
    return await workOn(session, file, total, check);
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
) {
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
async function checkFile(file: OrdersFile, signal: AbortSignal) {
  const { size } = await stat(file.path);
  const progress = startProgress("Checking", "MB", size / 1e6);
  const onRead = (bytes: number) => {
    if (signal.aborted) throw new CommandError("Interrupted: nothing was written");
    progress.update(bytes / 1e6);
  };
  const orders = await checkOrders(file, onRead).finally(() => progress.stop());
  if (orders === 0) throw new CommandError(`${file.name} has no orders`);
  return orders;
}

/**
 * Writes the orders of a checked file that the table lacks, or only compares the file with the
 * table. Orders being written when it stops are finished, so that the counts are right.
 *
 * @returns a rejection if an order is different in the table or, when it compares, missing there.
 */
async function workOn(
  session: Session,
  file: OrdersFile,
  total: number,
  check: boolean,
): Promise<Result> {
  const calls = session.calls(check ? "reads" : "writes");
  const findOrWrite = async (items: OrderItem[]) => {
    if (check) return calls.read(session.ordersTable, "id", items, true);
    const [item = {}] = items;
    const unmet = await calls.insert(session.ordersTable, "id", item);
    return () => unmet?.found;
  };
  const differing = new Findings();
  const counts = { missing: 0, same: 0, different: 0 };
  const { done, reason } = await workThrough(session, {
    title: check ? "Comparing" : "Writing",
    unit: "orders",
    total,
    items: batches(readNumberedOrders(file, total), check ? batchSize : 1),
    async *work(orders) {
      const find = await findOrWrite(orders.map(({ item }) => item));
      for (const order of orders) {
        const other = find(order.item);
        yield other ? compare(differing, order, other) : "missing";
      }
    },
    counts,
  });
  const { missing, same, different } = counts;
  const rest = total - done;
  const named = check
    ? { same, different, missing, notCompared: rest }
    : { written: missing, alreadyThere: same, different, notWritten: rest };
  const text = `${counted(total, "order")}: ${countsText(named)}`;
  return {
    text,
    json: { badLines: [], orders: total, ...named, differing: differing.first },
    notes: fileReport(file.name, differing),
    unprinted: text,
    reason,
    rejected: different > 0 || (check && missing > 0),
  };
}

/** Compares an order with the table's, and adds it to the findings if it differs. */
function compare(
  findings: Findings,
  { line, item }: { line: number; item: OrderItem },
  found: OrderItem,
) {
  const names = differingAttributes(item, found);
  if (names.length === 0) return "same";
  const values = names.map(
    (name) => `${name} ${shortText(item[name])} (table: ${shortText(found[name])})`,
  );
  const problem = `order ${item["id"]?.N} differs: ${values.join(", ")}`;
  findings.add(names.join(", "), { line, problems: [problem] });
  return "different";
}

function shortText(attribute: AttributeValue | undefined) {
  const text = attribute ? jsonText(plainValue(attribute)) : "none";
  return text.length > longestValue ? `${text.slice(0, longestValue)}...` : text;
}

function badLinesResult({ message, lineCount, bad }: BadLinesError): Result {
  const counts = {
    orders: lineCount,
    written: 0,
    alreadyThere: 0,
    notWritten: lineCount,
  };
  return {
    json: { badLines: bad.first, bad: bad.count, ...counts },
    notes: [message],
    rejected: true,
  };
}
