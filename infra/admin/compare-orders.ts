import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../shared/order.ts";
import { differingAttributes } from "../orders-file/attribute-json.ts";
import { type BadLine, Findings, fileReport } from "../orders-file/findings.ts";
import { type OrdersFile, readNumberedOrders } from "../orders-file/orders-file.ts";
import { counted, countsText } from "../terminal/counted.ts";
import { jsonText } from "../terminal/printable.ts";
import type { Result } from "./command.ts";
import { plainValue } from "./show-orders.ts";
import { finder, hundreds, type TableCalls } from "./table-calls.ts";
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
  /** Adds an order if it differs from the one found, and returns whether it does. */
  compare(line: number, order: OrderItem, found: OrderItem = {}): boolean {
    const different = differingAttributes(order, found);
    if (different.length === 0) return false;
    const values = different.map(
      (name) => `${name} ${shortText(order[name])} (table: ${shortText(found[name])})`,
    );
    const problem = `order ${order["id"]?.N} differs: ${values.join(", ")}`;
    this.add(different.join(", "), { line, problems: [problem] });
    return true;
  }

  /**
   * The result of an import, or of a comparison.
   *
   * @param counts of all orders of the file, by what became of them.
   * @param rest what is to be done with the rest if it stopped early, for this reason.
   */
  result(
    { file, total }: Import,
    counts: Record<string, number>,
    rest: string,
    reason?: string,
  ) {
    const text = `${counted(total, "order")}: ${countsText(counts)}`;
    const again = reason && `${reason}. Run it again to ${rest} the rest.`;
    return {
      text,
      json: { badLines: [], orders: total, ...counts, differing: this.first },
      notes: [...fileReport(file.name, this), again],
      unprinted: text,
      rejected: this.count + (counts["missing"] ?? 0) > 0 || again !== undefined,
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
  const counts = { same: 0, different: 0, missing: 0 };
  const { done, reason } = await workThrough({
    title: "Comparing",
    unit: "orders",
    total,
    items: hundreds(readNumberedOrders(file, total)),
    async *work(orders, stop) {
      const items = orders.map(({ item }) => item);
      const find = finder("id", await calls.getMany(table, "id", items, stop, true));
      for (const { line, item } of orders) {
        const order = find(item);
        if (!order) yield "missing";
        else yield differing.compare(line, item, order) ? "different" : "same";
      }
    },
    counts,
    signal,
  });
  return differing.result(job, { ...counts, notCompared: total - done }, "check", reason);
}
