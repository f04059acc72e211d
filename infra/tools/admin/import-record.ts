import { appendFileSync } from "node:fs";
import { open } from "node:fs/promises";
import type { OrderItem } from "../../../shared/order.ts";
import { batches } from "../orders-file/batches.ts";
import { formatOrderLine, parseOrderLine } from "../orders-file/order-line.ts";
import { CommandError, fileError } from "../terminal/errors.ts";
import { inputLines } from "../terminal/input.ts";
import { jsonText } from "../terminal/text.ts";

/** `thereBefore`: the table had an order with this id. `unknown` are those without an outcome. */
export type RecordedOutcome = "written" | "thereBefore" | "unknown";

/** The record that an import keeps of what it has written. */
export type ImportRecord = Awaited<ReturnType<typeof startRecord>>;

/**
 * Starts the record of an import, by which it can be undone, in a new file. Its lines are the table,
 * each order before it is written, like a line of an orders file, and its id once the outcome is
 * known, like `{"written":7}`. An order without an outcome may have been written.
 *
 * @throws CommandError when it can't be written, as do the others.
 */
export async function startRecord(name: string, table: string) {
  const fail = (error: unknown) => {
    throw fileError(name, error);
  };
  const file = await open(name, "ax").catch(fail);
  const add = (text: string) => {
    try {
      appendFileSync(file.fd, text);
    } catch (error) {
      fail(error);
    }
  };
  add(`${jsonText({ table })}\n`);
  return {
    /** Passes orders on, each once its line is on the disk. */
    async *before<Order extends { item: OrderItem }>(orders: Iterable<Order>) {
      for await (const batch of batches(orders)) {
        add(batch.map(({ item }) => `${formatOrderLine(item)}\n`).join(""));
        await file.datasync().catch(fail);
        yield* batch;
      }
    },
    /** Adds what became of an order. */
    add(outcome: RecordedOutcome, { id }: OrderItem) {
      add(`{"${outcome}":${id?.N}}\n`);
    },
    async [Symbol.asyncDispose]() {
      await file.datasync().catch(fail);
      await file.close();
    },
  };
}

/**
 * Reads the record of an import. A line that was cut short is no order that was written.
 *
 * @throws CommandError when it can't be read, or is none.
 */
export async function readRecord(name: string) {
  const written = new Set<string>();
  const thereBefore = new Set<string>();
  let table: string | undefined;
  for await (const { text } of inputLines(name)) {
    const [, key, value = ""] = /^\{"(\w+)":"?([-\w.]+)"?\}$/.exec(text) ?? [];
    if (key === "table") table = value;
    if (key === "written") written.add(value);
    if (key === "thereBefore") thereBefore.add(value);
  }
  if (table === undefined)
    throw new CommandError(`${name} is not the record of an import`);
  return {
    table,
    written: written.size,
    outcomeOf({ id }: OrderItem): RecordedOutcome {
      const text = id?.N ?? "";
      if (written.has(text)) return "written";
      return thereBefore.has(text) ? "thereBefore" : "unknown";
    },
    async *orders() {
      for await (const { text } of inputLines(name)) {
        const parsed = parseOrderLine(text);
        if ("item" in parsed) yield parsed.item;
      }
    },
  };
}
