import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../shared/order.ts";
import { sameAttribute } from "../orders-file/attribute-json.ts";
import { type BadLine, Findings, fileReport } from "../orders-file/findings.ts";
import {
  type NumberedOrder,
  type OrdersFile,
  readNumberedOrders,
} from "../orders-file/orders-file.ts";
import { countsText } from "../terminal/counted.ts";
import { jsonText } from "../terminal/printable.ts";
import type { Result } from "./command.ts";
import { startProgress } from "./progress.ts";
import { plainValue } from "./show-orders.ts";
import { hundreds, keyText, type TableCalls } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

/** A checked file of so many orders, and the table that they go to, or are compared with. */
export interface Import {
  table: string;
  file: OrdersFile;
  total: number;
  calls: TableCalls;
  signal: AbortSignal;
}

/** The longest value that is shown whole, in characters. */
const longestValue = 60;

/** The orders of a file that differ from the table's, by the fields in which they do. */
export class Differing extends Findings<BadLine> {
  /** Adds an order if it differs from the one found. */
  compare(line: number, order: OrderItem, found: OrderItem = {}): void {
    const names = Object.keys({ ...found, ...order }).sort();
    const different = names.filter((name) => !sameAttribute(order[name], found[name]));
    if (different.length === 0) return;
    const values = different.map(
      (name) => `${name} ${shortText(order[name])} (table: ${shortText(found[name])})`,
    );
    const problem = `order ${order["id"]?.N} differs: ${values.join(", ")}`;
    this.add(different.join(", "), { line, problems: [problem] });
  }

  /**
   * The result of an import, or of a comparison.
   *
   * @param counts of all orders of the file, by what became of them.
   * @param rest what is to be done with the rest if it stopped early, for this reason.
   */
  result({ file, total }: Import, counts: Record<string, number>, rest: string, reason?: string) {
    const text = countsText("order", total, counts);
    const lines = fileReport(file.name, this);
    if (reason !== undefined) lines.push(`${reason}. Run it again to ${rest} the rest.`);
    return {
      text,
      json: { badLines: [], orders: total, ...counts, differing: this.first },
      note: lines.join("\n"),
      unprinted: text,
      rejected: lines.length > 0,
    };
  }
}

function shortText(attribute: AttributeValue | undefined): string {
  const text = attribute ? jsonText(plainValue(attribute)) : "none";
  return text.length > longestValue ? `${text.slice(0, longestValue)}...` : text;
}

/**
 * Compares the orders of a checked file with the table's, and writes nothing.
 *
 * @returns a rejection unless every order is the same in both.
 */
export async function compareOrders(job: Import): Promise<Result> {
  const { table, file, total, calls, signal } = job;
  const differing = new Differing();
  const progress = startProgress("Comparing", "orders", total);
  let compared = 0;
  let missing = 0;
  const compare = async (orders: NumberedOrder[], stop: AbortSignal): Promise<void> => {
    const keys = orders.map(({ item }) => ({ N: keyText(item["id"]) }));
    const found = await calls.getMany(table, "id", keys, stop, true);
    for (const { line, item } of orders) {
      const order = found.get(keyText(item["id"]));
      if (order) differing.compare(line, item, order);
      else missing++;
    }
    compared += orders.length;
    progress.update(compared);
  };
  const orders = hundreds(readNumberedOrders(file, total));
  const reason = await workThrough(orders, compare, signal);
  progress.stop();
  const different = differing.count;
  const same = compared - missing - different;
  const counts = { same, different, missing, notCompared: total - compared };
  return { ...differing.result(job, counts, "check", reason), rejected: same < total };
}
