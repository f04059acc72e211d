import { appendFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { OrderItem } from "../../../shared/order.ts";
import { batches } from "../orders-file/batches.ts";
import { formatOrderLine, parseOrderLine } from "../orders-file/order-line.ts";
import { CommandError, fileError } from "../terminal/errors.ts";
import { inputLines, inputName } from "../terminal/input.ts";
import { jsonText } from "../terminal/text.ts";

/** The record that an import keeps of what it has written. */
export type ImportRecord = ReturnType<typeof startRecord>;

/**
 * Starts the record of an import, by which it can be undone, in a new file. Its lines are the table,
 * each order before it is written, like a line of an orders file, and its id once the outcome is
 * known, like `{"written":7}`, or `thereBefore` if the table had one with this id. An order without
 * an outcome may have been written.
 *
 * @throws CommandError when it can't be written, as do the others.
 */
export function startRecord(name: string, table: string) {
  const add = (text: string, options = {}) => {
    try {
      appendFileSync(name, `${text}\n`, options);
    } catch (error) {
      throw fileError(name, error);
    }
  };
  add(jsonText({ table }), { flag: "ax" });
  return {
    /** Passes orders on, each once its line is on the disk. */
    async *before<Order extends { item: OrderItem }>(orders: Iterable<Order>) {
      for await (const batch of batches(orders)) {
        const lines = batch.map(({ item }) => formatOrderLine(item));
        add(lines.join("\n"), { flush: true });
        yield* batch;
      }
    },
    /** Adds what became of an order. */
    add: (outcome: "written" | "thereBefore", { id }: OrderItem) =>
      add(`{"${outcome}":${id?.N}}`),
  };
}

/**
 * Reads the record of an import. A line that was cut short is no order that was written.
 *
 * @throws CommandError when it can't be read, or is none.
 */
export async function readRecord(name: string) {
  const existing = await stat(name).catch(() => undefined);
  if (name === "-" || existing?.isFile() === false)
    throw new CommandError(`${inputName(name)} can't be read twice: name a file`);
  const outcomes = new Map<string, string>();
  let table: string | undefined;
  for await (const { text } of inputLines(name)) {
    const [, key = "", value = ""] = /^\{"(\w+)":"?([-\w.]+)"?\}$/.exec(text) ?? [];
    if (key === "table") table = value;
    else outcomes.set(value, key);
  }
  if (!table) throw new CommandError(`${name} is not the record of an import`);
  return {
    table,
    written: [...outcomes.values()].filter((outcome) => outcome === "written").length,
    outcomeOf: ({ id }: OrderItem) => outcomes.get(id?.N ?? "") ?? "unknown",
    async *orders() {
      for await (const { text } of inputLines(name)) {
        const parsed = parseOrderLine(text);
        if ("item" in parsed) yield parsed.item;
      }
    },
  };
}
