import type { OrderItem } from "../../shared/order.ts";
import { sameAttribute } from "../orders-file/attribute-json.ts";
import { Findings } from "../orders-file/findings.ts";
import type { TableCalls } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

/**
 * Writes each order whose id is not in the table yet, several at a time, until the first failure.
 *
 * @param check whether to look up each order instead of writing it.
 * @param signal stops it; orders being written are finished, so that the counts are right.
 * @param onOrder called with the number of orders done so far.
 * @returns how many were written, were there already and are missing (of those only looked up), which differ and in what,
 *   and why it did not get to the end, if it did not.
 */
export async function writeOrders(
  table: string,
  orders: AsyncIterable<OrderItem>,
  calls: TableCalls,
  check: boolean,
  signal: AbortSignal,
  onOrder: (done: number) => void,
) {
  const result = {
    written: 0,
    alreadyThere: 0,
    missing: 0,
    differing: new Findings<{ id: bigint; fields: string[] }>(),
  };
  let done = 0;
  const write = async (order: OrderItem, stop: AbortSignal): Promise<void> => {
    const { id = { N: "0" } } = order;
    const unmet = check ? undefined : await calls.insert(table, "id", order, stop);
    const found = check
      ? await calls.get({ TableName: table, Key: { id }, ConsistentRead: true }, stop)
      : unmet && (unmet.found ?? {});
    if (found) {
      result.alreadyThere++;
      const names = Object.keys({ ...order, ...found }).sort();
      const fields = names.filter((name) => !sameAttribute(order[name], found[name]));
      if (fields.length > 0) result.differing.add(fields.join(", "), { id: BigInt(id.N ?? 0), fields });
    } else if (check) result.missing++;
    else result.written++;
    onOrder(++done);
  };
  return { reason: await workThrough(orders, write, signal), ...result };
}
