import type { OrderItem } from "../../shared/order.ts";
import { sameAttribute } from "../orders-file/attribute-json.ts";
import { Findings } from "../orders-file/findings.ts";
import { formatOrderLine, parseOrderLine } from "../orders-file/order-line.ts";
import { type OrdersFile, readOrders } from "../orders-file/orders-file.ts";
import { counted } from "../terminal/counted.ts";
import { printable } from "../terminal/printable.ts";
import type { Result } from "./command.ts";
import { startProgress } from "./progress.ts";
import type { TableCalls } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

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
    const names = Object.keys({ ...order, ...found });
    const fields = names.filter((name) => !sameAttribute(order[name], found[name]));
    if (fields.length > 0) this.#addFields(order, fields);
  }

  /** Adds an order that is in the table, though DynamoDB did not show it: any field may differ. */
  addUnseen(order: OrderItem): void {
    this.#addFields(order, Object.keys(order));
  }

  #addFields(order: OrderItem, names: string[]): void {
    const fields = names.toSorted();
    this.add(fields.join(", "), { id: BigInt(order["id"]?.N ?? 0), fields });
  }

  /** A line for each order, and then why not all orders were compared. */
  note(reason: string | undefined): string {
    const differences = this.first.map(
      ({ id, fields }) => `Order ${id} in the table differs: ${fields.join(", ")}`,
    );
    const lines = [...differences, ...this.more];
    if (reason !== undefined) lines.push(reason);
    return lines.map(printable).join("\n");
  }
}

/**
 * Compares the orders of a checked file with the table's, and writes nothing. It scans the table:
 * one read for each order would use many times as many units, and take minutes.
 *
 * @returns a rejection unless every order is the same in both.
 */
export async function compareOrders(job: Import): Promise<Result> {
  const { table, file, total, calls, signal } = job;
  const progress = startProgress("Comparing", "orders", total);
  // The orders not found yet, as lines, which take a tenth of the memory.
  const expected = new Map<string, string>();
  const differing = new Differing();
  let compared = 0;
  const addExpected = async (order: OrderItem): Promise<void> => {
    expected.set(order["id"]?.N ?? "", formatOrderLine(order) ?? "");
  };
  const compare = async (found: OrderItem): Promise<void> => {
    const id = found["id"]?.N ?? "";
    const line = expected.get(id);
    if (line === undefined) return;
    const parsed = parseOrderLine(line);
    if ("problems" in parsed) return;
    expected.delete(id);
    differing.compare(parsed.item, found);
    compared++;
    progress.update(compared);
  };
  let reason = await workThrough(readOrders(file, total), addExpected, signal);
  reason ??= await workThrough(calls.items(table, signal), compare, signal);
  progress.stop();
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
