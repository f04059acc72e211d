import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Command } from "commander";
import { type OrderItem, parseOrderId } from "../../shared/order.ts";
import { inputLines } from "./input-lines.ts";

/**
 * Reads a file of order ids, one per line; `-` is standard input. It is wrong use of the command if
 * a line is not an id, or if there is none: the command before this one in a pipe may have failed.
 */
export async function readIds(command: Command, file = "-"): Promise<Set<bigint>> {
  const ids = await Array.fromAsync(inputLines(file), ({ text, place }) => {
    const id = parseOrderId(text);
    return id ?? command.error(`error: ${place}: not a 64-bit integer: nothing was changed`);
  });
  const name = file === "-" ? "standard input" : file;
  if (ids.length === 0) command.error(`error: ${name} has no order ids: nothing was changed`);
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
