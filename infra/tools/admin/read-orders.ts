import { pipeline } from "node:stream/promises";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import {
  type OmittedFields,
  type OrderItem,
  orderJson,
  orderStatuses,
} from "../../../shared/order.ts";
import { plainValue } from "../orders-file/attributes.ts";
import { formatOrderLine } from "../orders-file/order-line.ts";
import { columns, header } from "../terminal/columns.ts";
import { CommandError } from "../terminal/errors.ts";
import { counted, countsText, grouped, jsonText, printable } from "../terminal/text.ts";
import { findKey, requireKey } from "./api-keys.ts";
import { writeLines } from "./export-file.ts";
import type { statusChoices } from "./parsers.ts";
import { printLine, startProgress } from "./progress.ts";
import type { Result, Session } from "./session.ts";
import { orderKey, TableCalls } from "./table-calls.ts";
import type { Target } from "./target.ts";

/**
 * Reads the orders of a table, page by page, at the rate of the command line, and shows how far that
 * is.
 *
 * @param title what the progress line says is done, like `Counting`.
 * @param isPrinted whether the orders go to standard output.
 */
async function* readTable(
  session: Session,
  title: string,
  isPrinted: boolean,
  table = session.ordersTable,
) {
  const progress = startProgress(title, "orders", 0, isPrinted);
  let read = 0;
  try {
    for await (const orders of session.calls("reads").pages(table)) {
      read += orders.length;
      progress.update(read);
      yield orders;
    }
  } finally {
    progress.stop();
  }
}

/** Exports every order to the file that the command line names, or to standard output. */
export async function exportOrders(
  session: Session,
  name = "-",
  { table }: { table?: string },
): Promise<Result> {
  const isPrinted = name === "-" || name === "/dev/stdout";
  const counts = { orders: 0, skipped: 0 };
  const lines = async function* () {
    for await (const orders of readTable(session, "Exporting", isPrinted, table))
      yield orders.map((order) => formatLine(order, counts)).join("");
  };
  if (isPrinted) await pipeline(lines, process.stdout, { end: false });
  else await writeLines(session, name, lines);
  const where = isPrinted ? "" : ` to ${printable(name)}`;
  const skipped = counts.skipped === 0 ? "" : `, skipped ${grouped(counts.skipped)}`;
  const text = `Exported ${counted(counts.orders, "order")}${where}${skipped}`;
  // Standard output that has orders has nothing else.
  const printed = isPrinted ? { notes: [text] } : { text, json: counts };
  return { ...printed, rejected: counts.skipped > 0 };
}

/**
 * The line of an orders file for an order. It is empty for an order that no line can hold, which is
 * named on standard error. Counts both.
 */
function formatLine(order: OrderItem, counts: { orders: number; skipped: number }) {
  const line = formatOrderLine(order);
  if (line !== undefined) {
    counts.orders++;
    return `${line}\n`;
  }
  counts.skipped++;
  const id = printable(String(order["id"]?.N));
  const problem = Object.hasOwn(order, "__proto__")
    ? "has an attribute __proto__"
    : "id is not a 64-bit integer";
  printLine(`Order ${id} skipped: ${problem}`, process.stderr);
  return "";
}

/** Selects orders by their status and by the id of the key that cancelled them. */
type Filter = { status?: (typeof statusChoices)[number]; cancelledBy?: string };

/**
 * The columns of a list, wide enough for nearly all values, because each row is printed before the
 * next ones are known.
 */
const widths = {
  id: 20,
  status: 9,
  petId: 20,
  quantity: 8,
  complete: 8,
  shipDate: 27,
  cancelledBy: 20,
};

/**
 * Shows an order as the table holds it, and the name of the key that cancelled it. Marks the values
 * that clients don't see.
 */
export async function showOrder(target: Target, id: string): Promise<Result> {
  const calls = new TableCalls(target.client);
  const key = orderKey(id);
  const order = (await calls.read(target.ordersTable, "id", [key], true))(key);
  if (!order) throw new CommandError(`No order has the id ${id}`);
  const cancelledBy = order["cancelledBy"]?.S;
  const canceller = cancelledBy && (await findKey(target, cancelledBy));
  if (canceller) order["cancelledByName"] = { S: canceller.name };
  const plain = plainOrder(order);
  const omittedFields: OmittedFields = {};
  orderJson(order, omittedFields);
  const rows = Object.keys(plain).map((name) => [
    name,
    valueText(order[name]),
    omittedFields[name] ? "(clients don't see it)" : "",
  ]);
  return { text: columns(rows), json: { ...plain, omittedFields } };
}

/** An order's attributes as plain values, those of a list first. */
export function plainOrder(item: OrderItem): Record<string, unknown> {
  const names = new Set([...Object.keys(widths), ...Object.keys(item).sort()]);
  const present = [...names].filter((name) => item[name]);
  return Object.fromEntries(present.map((name) => [name, plainValue(item[name])]));
}

/**
 * Prints the orders that match the filter as they are read: in columns, or with `--json` as lines
 * of an orders file.
 */
export async function listOrders(
  session: Session,
  { status, cancelledBy }: Filter,
): Promise<Result> {
  const matches = (item: OrderItem) =>
    (status === undefined || statusOf(item) === status) &&
    (cancelledBy === undefined || item["cancelledBy"]?.S === cancelledBy);
  const counts = { orders: 0, skipped: 0 };
  let found = 0;
  const output = async function* () {
    if (!session.asJson) yield row(header);
    for await (const orders of readTable(session, "Listing", true)) {
      const matching = orders.filter(matches);
      found += matching.length;
      const line = (order: OrderItem) =>
        session.asJson
          ? formatLine(order, counts)
          : row((name) => valueText(order[name]));
      yield matching.map(line).join("");
    }
  };
  await pipeline(output, process.stdout, { end: false });
  if (found === 0 && cancelledBy !== undefined) await requireKey(session, cancelledBy);
  return { rejected: counts.skipped > 0 };
}

function row(cell: (name: string) => string) {
  const cells = Object.entries(widths).map(([name, width]) =>
    printable(cell(name)).padEnd(width),
  );
  return `${cells.join("  ").trimEnd()}\n`;
}

function valueText(attribute: AttributeValue | undefined) {
  const value = plainValue(attribute);
  if (value === null) return "-";
  return typeof value === "object" ? jsonText(value) : String(value);
}

/** Counts the orders by status, and by field the values that clients don't see. */
export async function countOrders(session: Session): Promise<Result> {
  const counts = { pending: 0, shipped: 0, cancelled: 0, other: 0, total: 0 };
  const omittedFields: OmittedFields = {};
  for await (const orders of readTable(session, "Counting", false)) {
    counts.total += orders.length;
    for (const order of orders) {
      counts[statusOf(order)]++;
      orderJson(order, omittedFields);
    }
  }
  const rows = Object.entries(counts).map(([status, orders]) => [
    status,
    grouped(orders),
  ]);
  const omitted = countsText(omittedFields);
  return {
    text: columns([["STATUS", "ORDERS"], ...rows]),
    json: { ...counts, omittedFields },
    notes: [omitted && `Values that clients don't see: ${omitted}`],
  };
}

function statusOf({ status }: OrderItem) {
  return orderStatuses.find((known) => known === status?.S) ?? "other";
}
