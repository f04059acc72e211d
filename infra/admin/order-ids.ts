import { isInt64, type OrderItem, parseOrderId } from "../../shared/order.ts";
import type { Session } from "./command.ts";
import { inputLines, inputName } from "./input-lines.ts";

/**
 * Reads a file of order ids, one per line; `-` is standard input. It is wrong use of the command if
 * a line is not an id, or if there is none: the command before this one in a pipe may have failed.
 */
export async function readIds({ wrongUse }: Session, file = "-"): Promise<Set<string>> {
  const ids = await Array.fromAsync(inputLines(file), ({ text, place }) =>
    isInt64(text) ? text : wrongUse(`${place}: not a 64-bit integer: nothing was changed`),
  );
  if (ids.length === 0)
    wrongUse(`${inputName(file)} has no order ids: nothing was changed`);
  return new Set(ids);
}

/** An order's id. Another team may have placed an order whose id no client can name. */
export function orderIdOf({ id }: OrderItem): bigint | string {
  const number = id?.N ?? "";
  return parseOrderId(number) ?? number;
}

/** The key of the order with this id. */
export function orderKey(id: string): OrderItem {
  return { id: { N: id } };
}
