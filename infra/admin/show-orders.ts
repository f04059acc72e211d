import { pipeline } from "node:stream/promises";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Command } from "commander";
import { isInt64, type OrderItem, orderFields, orderStatuses } from "../../shared/order.ts";
import { attributeJson } from "../orders-file/attribute-json.ts";
import { jsonText, printable } from "../orders-file/printable.ts";
import { listApiKeys } from "./api-keys.ts";
import { findTarget, type GlobalOptions, pacedCalls, type Result } from "./command.ts";
import { CommandError } from "./errors.ts";
import { exportOrders } from "./export-orders.ts";
import { TableCalls } from "./table-calls.ts";
import type { Target } from "./target.ts";
import { columns } from "./terminal.ts";

/** The statuses that orders are listed and counted by; `other` is any other status, or none. */
export const statusChoices = [...orderStatuses, "other"] as const;
type StatusChoice = (typeof statusChoices)[number];

/** A choice of orders. */
export interface Filter {
  status?: StatusChoice;
  /** The id of a key. */
  cancelledBy?: string;
}

/** Shows an order as the table holds it, and the name of the key that cancelled it. */
export async function show(target: Target, id: bigint): Promise<Result> {
  const key = { id: { N: id.toString() } };
  const calls = new TableCalls(target.client);
  const item = await calls.get({ TableName: target.ordersTable, Key: key, ConsistentRead: true });
  if (!item) throw new CommandError(`No order has the id ${id}`);
  const cancelledBy = item["cancelledBy"]?.S;
  if (cancelledBy !== undefined) {
    const { keys } = await listApiKeys(target);
    const key = keys.find(({ keyId }) => keyId === cancelledBy);
    if (key) item["cancelledByName"] = { S: key.name };
  }
  const attributes = inOrder(item);
  return {
    text: columns(attributes.map(([name, attribute]) => [name, valueText(attribute)])),
    json: Object.fromEntries(attributes.map(([name, attribute]) => [name, valueJson(attribute)])),
  };
}

const order = [...orderFields.map(({ name }): string => name), "status", "cancelledAt", "cancelledBy"];

/** The attributes of an order: the known ones in the order of the interface description, then the rest. */
function inOrder(item: OrderItem): [string, AttributeValue][] {
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return Object.entries(item).sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function valueText(attribute: AttributeValue): string {
  const { N, S, BOOL } = attribute;
  return N ?? S ?? (BOOL === undefined ? jsonText(attributeJson(attribute)) : String(BOOL));
}

function valueJson(attribute: AttributeValue): unknown {
  const { N, S, BOOL } = attribute;
  if (N !== undefined) return isInt64(N) ? BigInt(N) : N;
  return S ?? BOOL ?? attributeJson(attribute);
}

/** Prints the orders that the filter lets through as they are read: a table for people, lines of an orders file as JSON. */
export async function listCommand(command: Command, { status, cancelledBy }: Filter): Promise<void> {
  const target = await findTarget(command);
  const calls = pacedCalls(command, target, "reads");
  const { json } = command.optsWithGlobals<GlobalOptions>();
  const wanted = (item: OrderItem): boolean =>
    (status === undefined || statusOf(item) === status) &&
    (cancelledBy === undefined || item["cancelledBy"]?.S === cancelledBy);
  const counts = { orders: 0, skipped: 0 };
  const onSkipped = (why: string): void => void process.stderr.write(`${printable(why)}\n`);
  const lines = exportOrders(target, calls, counts, { wanted, onSkipped, ...(!json && { format: row }) });
  if (!json) process.stdout.write(`${tableRow((name) => name)}\n`);
  await pipeline(lines, process.stdout, { end: false });
  target.client.destroy();
  if (counts.skipped > 0) process.exitCode = 1;
}

/** The columns of a list, wide enough for nearly all values: rows are printed before the others are known. */
const widths = { id: 20, status: 9, petId: 20, quantity: 8, complete: 8, shipDate: 27, cancelledBy: 20 };

function tableRow(cell: (name: string) => string): string {
  const cells = Object.entries(widths).map(([name, width]) => printable(cell(name)).padEnd(width));
  return cells.join("  ").trimEnd();
}

function row(item: OrderItem): string {
  return tableRow((name) => (item[name] === undefined ? "-" : valueText(item[name])));
}

/** Counts the orders by status. */
export async function count({ ordersTable }: Target, calls: TableCalls): Promise<Result> {
  const counts = new Map<string, number>(statusChoices.map((status) => [status, 0]));
  let total = 0;
  for await (const page of calls.scan(ordersTable)) {
    total += page.length;
    for (const item of page) counts.set(statusOf(item), (counts.get(statusOf(item)) ?? 0) + 1);
  }
  counts.set("total", total);
  const rows = [...counts].map(([status, orders]) => [status, String(orders)]);
  return { text: columns([["STATUS", "ORDERS"], ...rows]), json: Object.fromEntries(counts) };
}

function statusOf({ status }: OrderItem): StatusChoice {
  return orderStatuses.find((known) => known === status?.S) ?? "other";
}
