import { pipeline } from "node:stream/promises";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { type OrderItem, orderStatuses } from "../../shared/order.ts";
import { plainValue } from "../orders-file/attribute-json.ts";
import { columns, header } from "../terminal/columns.ts";
import { CommandError } from "../terminal/errors.ts";
import { grouped, jsonText, printable } from "../terminal/text.ts";
import { findKey, requireKey } from "./api-keys.ts";
import { type Result, readTable, type Session } from "./command.ts";
import { formatLine } from "./export-orders.ts";
import { orderKey, TableCalls } from "./table-calls.ts";
import type { Target } from "./target.ts";

/** The statuses that orders are listed and counted by; `other` is any other status, or none. */
export const statusChoices = [...orderStatuses, "other"] as const;

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

/** Shows an order as the table holds it, and the name of the key that cancelled it. */
export async function show(target: Target, id: string): Promise<Result> {
  const calls = new TableCalls(target.client);
  const key = orderKey(id);
  const order = (await calls.read(target.ordersTable, "id", [key], true))(key);
  if (!order) throw new CommandError(`No order has the id ${id}`);
  const cancelledBy = order["cancelledBy"]?.S;
  const canceller = cancelledBy && (await findKey(target, cancelledBy));
  if (canceller) order["cancelledByName"] = { S: canceller.name };
  const plain = plainOrder(order);
  const rows = Object.keys(plain).map((name) => [name, valueText(order[name])]);
  return { text: columns(rows), json: plain };
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
  const matches = (item: OrderItem): boolean =>
    (status === undefined || statusOf(item) === status) &&
    (cancelledBy === undefined || item["cancelledBy"]?.S === cancelledBy);
  const counts = { orders: 0, skipped: 0 };
  let found = 0;
  const output = async function* (): AsyncIterable<string> {
    if (!session.asJson) yield row(header);
    for await (const order of readTable(session, "Listing", { isPrinted: true })) {
      if (!matches(order)) continue;
      found++;
      yield session.asJson
        ? formatLine(order, counts)
        : row((name) => valueText(order[name]));
    }
  };
  await pipeline(output, process.stdout, { end: false });
  if (found === 0 && cancelledBy !== undefined) await requireKey(session, cancelledBy);
  return { rejected: counts.skipped > 0 };
}

function row(cell: (name: string) => string): string {
  const cells = Object.entries(widths).map(([name, width]) =>
    printable(cell(name)).padEnd(width),
  );
  return `${cells.join("  ").trimEnd()}\n`;
}

function valueText(attribute: AttributeValue | undefined): string {
  const value = plainValue(attribute);
  if (value === null) return "-";
  return typeof value === "object" ? jsonText(value) : String(value);
}

/** Counts the orders by status. */
export async function countOrders(session: Session): Promise<Result> {
  const counts = { pending: 0, shipped: 0, cancelled: 0, other: 0, total: 0 };
  for await (const order of readTable(session, "Counting")) {
    counts[statusOf(order)]++;
    counts.total++;
  }
  const rows = Object.entries(counts).map(([status, orders]) => [
    status,
    grouped(orders),
  ]);
  return { text: columns([["STATUS", "ORDERS"], ...rows]), json: counts };
}

function statusOf({ status }: OrderItem): (typeof statusChoices)[number] {
  return orderStatuses.find((known) => known === status?.S) ?? "other";
}
