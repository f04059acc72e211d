import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { type OrderItem, parseOrderId } from "../../shared/order.ts";
import { CommandError } from "../terminal/errors.ts";
import { inputLines } from "./input-lines.ts";

/**
 * Reads a file of order ids, one per line; `-` is standard input.
 *
 * @throws CommandError when a line is not an id, or when there is none: the command before this one
 * in a pipe may have failed.
 */
export async function readIds(file = "-"): Promise<Set<bigint>> {
  const ids = await Array.fromAsync(inputLines(file), ({ text, place }) => {
    const id = parseOrderId(text);
    if (id !== undefined) return id;
    throw new CommandError(`${place}: not a 64-bit integer: nothing was changed`);
  });
  if (ids.length === 0) {
    const name = file === "-" ? "standard input" : file;
    throw new CommandError(`${name} has no order ids: nothing was changed`);
  }
  return new Set(ids);
}

/** An order's id. Another team may have placed an order whose id no client can name. */
export function orderIdOf({ id }: OrderItem): bigint | string {
  const number = id?.N ?? "";
  return parseOrderId(number) ?? number;
}

/** An order's id as the table has it. */
export function idAttribute(id: bigint): AttributeValue {
  return { N: String(id) };
}
