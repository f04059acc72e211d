import type { OrderItem } from "../../shared/order.ts";
import { sameAttribute } from "../orders-file/attribute-json.ts";
import { Findings } from "../orders-file/findings.ts";
import { formatOrderLine, parseOrderLine } from "../orders-file/order-line.ts";
import { type OrdersFile, readOrders } from "../orders-file/orders-file.ts";
import { counted } from "../terminal/counted.ts";
import { errorLine } from "../terminal/errors.ts";
import { printable } from "../terminal/printable.ts";
import type { Result } from "./command.ts";
import { startProgress } from "./progress.ts";
import type { TableCalls } from "./table-calls.ts";

/** A checked file of so many orders, and the table that they go to, or are compared with. */
export interface Import {
  table: string;
  file: OrdersFile;
  total: number;
  calls: TableCalls;
  signal: AbortSignal;
}

/** The orders of a file that differ from the table's, by the fields in which they do. */
export class Differing extends Findings<{ id: bigint; fields: string[] }> {
  /** Adds an order if it differs from the one found. */
  compare(order: OrderItem, found: OrderItem): void {
    const names = Object.keys({ ...order, ...found }).sort();
    const fields = names.filter((name) => !sameAttribute(order[name], found[name]));
    if (fields.length > 0) this.add(fields.join(", "), { id: BigInt(order["id"]?.N ?? 0), fields });
  }

  /** A line for each, and then why not all orders were looked at. */
  note(reason: string | undefined): string {
    const lines = this.first.map(
      ({ id, fields }) => `Order ${id} in the table differs: ${fields.join(", ")}`,
    );
    const all = [...lines, ...this.more, ...(reason === undefined ? [] : [reason])];
    return all.map(printable).join("\n");
  }
}

/**
 * Compares the orders of a checked file with the table's, and writes nothing. It scans the table:
 * one read for each order would use many times as many units, and take minutes.
 *
 * @returns a rejection unless every order is the same in both.
 */
export async function compareOrders(job: Import): Promise<Result> {
  const progress = startProgress("Comparing", "orders", job.total);
  const comparison: Comparison = { expected: new Map(), compared: 0, differing: new Differing() };
  let reason: string | undefined;
  try {
    await compareAll(job, comparison, (compared) => progress.update(compared));
  } catch (error) {
    reason = job.signal.aborted ? "Interrupted" : errorLine(error);
  }
  progress.stop();
  return comparisonResult(job.total, comparison, reason);
}

/** How far a comparison is. */
interface Comparison {
  /** The orders not found yet, as lines, which take a tenth of the memory. */
  expected: Map<string, string>;
  compared: number;
  differing: Differing;
}

async function compareAll(
  { table, file, total, calls, signal }: Import,
  comparison: Comparison,
  onCompared: (compared: number) => void,
): Promise<void> {
  const { expected, differing } = comparison;
  for await (const order of readOrders(file, total)) {
    signal.throwIfAborted();
    expected.set(order["id"]?.N ?? "", formatOrderLine(order) ?? "");
  }
  for await (const found of ordersOf(calls, table, signal)) {
    const id = found["id"]?.N ?? "";
    const line = parseOrderLine(expected.get(id) ?? "");
    if (!("item" in line)) continue;
    expected.delete(id);
    differing.compare(line.item, found);
    comparison.compared++;
    onCompared(comparison.compared);
  }
  signal.throwIfAborted();
}

/** @param reason why the comparison did not get to the end, if it did not. */
function comparisonResult(
  total: number,
  { expected, compared, differing }: Comparison,
  reason: string | undefined,
): Result {
  const { count: differ, first } = differing;
  const same = compared - differ;
  // What was not found is missing only once the whole table has been read.
  const missing = reason === undefined ? expected.size : 0;
  const notCompared = total - compared - missing;
  const left = notCompared > 0 ? `, ${notCompared} not compared` : "";
  const counts = `${same} the same, ${differ} ${differ === 1 ? "differs" : "differ"}`;
  return {
    text: `${counted(total, "order")}: ${counts}, ${missing} missing${left}`,
    json: { badLines: [], orders: total, same, missing, notCompared, differ, differing: first },
    note: differing.note(reason && `${reason}. Run it again to check the rest.`),
    rejected: same < total,
  };
}

/** Reads the orders of a table until the signal aborts. */
async function* ordersOf(calls: TableCalls, table: string, signal: AbortSignal) {
  for await (const page of calls.scan(table, signal)) yield* page;
}
