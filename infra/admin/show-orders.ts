import { pipeline } from "node:stream/promises";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Command } from "commander";
import { isInt64, type OrderItem, orderStatuses } from "../../shared/order.ts";
import { attributeJson } from "../orders-file/attribute-json.ts";
import { CommandError } from "../terminal/errors.ts";
import { jsonText, printable } from "../terminal/printable.ts";
import { columns } from "../terminal/text.ts";
import { findKey, noKey } from "./api-keys.ts";
import { pacedCalls, type Result, run } from "./command.ts";
import { formatLines } from "./export-orders.ts";
import { TableCalls } from "./table-calls.ts";
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
export async function show(target: Target, id: bigint): Promise<Result> {
  const Key = { id: { N: id.toString() } };
  const input = { TableName: target.ordersTable, Key, ConsistentRead: true };
  const item = await new TableCalls(target.client).get(input);
  if (!item) throw new CommandError(`No order has the id ${id}`);
  const cancelledBy = item["cancelledBy"]?.S;
  const key = cancelledBy === undefined ? undefined : await findKey(target, cancelledBy);
  if (key) item["cancelledByName"] = { S: key.name };
  const order = plainOrder(item);
  const rows = Object.keys(order).map((name) => [name, valueText(item[name])]);
  return { text: columns(rows), json: order };
}

/** An order's attributes as plain values, those of a list first. */
export function plainOrder(item: OrderItem): Record<string, unknown> {
  const names = new Set([...Object.keys(widths), ...Object.keys(item).sort()]);
  const members = [...names].flatMap((name) =>
    item[name] ? [[name, plainValue(item[name])] as const] : [],
  );
  return Object.fromEntries(members);
}

/**
 * Prints the orders that match the filter as they are read: in columns, or with `--json` as lines
 * of an orders file.
 */
export function listCommand({ status, cancelledBy }: Filter, command: Command): Promise<void> {
  return run(command, async (target, json) => {
    const calls = pacedCalls(command, target, "reads");
    const matches = (item: OrderItem): boolean =>
      (status === undefined || statusOf(item) === status) &&
      (cancelledBy === undefined || item["cancelledBy"]?.S === cancelledBy);
    let found = 0;
    let skipped = 0;
    const output = async function* (): AsyncGenerator<string, void, void> {
      if (!json) yield row((name) => name);
      for await (const page of calls.scan(target.ordersTable)) {
        const orders = page.filter(matches);
        const lines = json
          ? formatLines(orders)
          : orders.map((item) => row((name) => valueText(item[name])));
        found += orders.length;
        skipped += orders.length - lines.length;
        yield lines.join("");
      }
    };
    await pipeline(output, process.stdout, { end: false });
    if (found === 0 && cancelledBy !== undefined) {
      const key = await findKey(target, cancelledBy);
      if (key === undefined) throw noKey(cancelledBy);
    }
    return { rejected: skipped > 0 };
  });
}

function row(cell: (name: string) => string): string {
  const cells = Object.entries(widths).map(([name, width]) => printable(cell(name)).padEnd(width));
  return `${cells.join("  ").trimEnd()}\n`;
}

function valueText(attribute: AttributeValue | undefined): string {
  if (attribute === undefined) return "-";
  const value = plainValue(attribute);
  return typeof value === "object" ? jsonText(value) : String(value);
}

function plainValue(attribute: AttributeValue): unknown {
  const { N, S, BOOL } = attribute;
  if (N !== undefined) return isInt64(N) ? BigInt(N) : N;
  return S ?? BOOL ?? attributeJson(attribute);
}

/** Counts the orders by status. */
export async function count(table: string, calls: TableCalls): Promise<Result> {
  const counts = { pending: 0, shipped: 0, cancelled: 0, other: 0, total: 0 };
  for await (const page of calls.scan(table)) {
    for (const item of page) counts[statusOf(item)]++;
    counts.total += page.length;
  }
  const rows = Object.entries(counts).map(([status, orders]) => [status, String(orders)]);
  return { text: columns([["STATUS", "ORDERS"], ...rows]), json: counts };
}

function statusOf({ status }: OrderItem): (typeof statusChoices)[number] {
  return orderStatuses.find((known) => known === status?.S) ?? "other";
}
