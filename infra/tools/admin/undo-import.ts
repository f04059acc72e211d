import type { OrderItem } from "../../../shared/order.ts";
import { differingAttributes, plainValue } from "../orders-file/attributes.ts";
import { CommandError } from "../terminal/errors.ts";
import { confirm } from "../terminal/input.ts";
import { counted, countsText } from "../terminal/text.ts";
import { readRecord } from "./import-record.ts";
import type { Result, Session } from "./session.ts";
import { workThrough } from "./work-through.ts";

/** Why an order of a record stays. */
const reasons: Record<string, string> = {
  changedSince: "has changed since",
  thereBefore: "was there before",
  unknown: "may have been written by the import, or by someone else",
};

/**
 * Deletes the orders that an import has written, by its record, each while it still equals its line.
 * Prints each order of the record that stays. First asks, unless it has been said.
 *
 * @returns a rejection if some have changed since, or may have been written, and why it stopped
 * early, if it did.
 */
export async function undoImport(
  session: Session,
  file: string,
  isAgreed: boolean,
): Promise<Result> {
  const { ordersTable: table } = session;
  const record = await readRecord(file);
  if (record.table !== table)
    throw new CommandError(`${file} is of the table ${record.table}, not ${table}`);
  const warning = `This deletes up to ${counted(record.written, "order")} from ${table}.`;
  if (!(await confirm(warning, isAgreed))) throw new CommandError("Nothing was deleted");
  const writes = session.calls("writes");
  const counts: Record<string, number> = {
    deleted: 0,
    missing: 0,
    changedSince: 0,
    thereBefore: 0,
    unknown: 0,
  };
  const undo = async (order: OrderItem, found: OrderItem | undefined) => {
    if (!found) return "missing";
    const outcome = record.outcomeOf(order);
    if (outcome !== "written") return outcome;
    if (differingAttributes(order, found).length > 0) return "changedSince";
    const conflict = await writes.delete(table, "id", order);
    if (!conflict) return "deleted";
    return conflict.found ? "changedSince" : "missing";
  };
  const { reason } = await workThrough(session, {
    title: "Deleting",
    unit: "orders",
    items: record.orders(),
    keyOf: (order) => order,
    async *work(order, found) {
      const outcome = await undo(order, found);
      const id = plainValue(order["id"]);
      const reason = reasons[outcome];
      if (reason) session.print(`Order ${id} ${reason}`, { id, outcome });
      yield outcome;
    },
    counts,
  });
  return {
    json: { table, complete: reason === undefined, ...counts },
    notes: [`${table}: ${countsText(counts)}`],
    reason,
    rejected: Boolean(counts["changedSince"] || counts["unknown"]),
  };
}
