import { isDeepStrictEqual } from "node:util";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../shared/order.ts";
import { attributeJson } from "../orders-file/attribute-json.ts";
import { Findings } from "../orders-file/findings.ts";
import { findOrder } from "./orders.ts";
import type { TableCalls } from "./table-calls.ts";
import type { Target } from "./target.ts";
import { workThrough } from "./work-through.ts";

export interface Written {
  /** How many orders were written, found in the table or, if only checked, looked up. */
  done: number;
  written: number;
  alreadyThere: number;
  /** Those already there that are not as in the file, and the names of what differs. */
  differing: Findings<{ id: bigint; fields: string[] }>;
  /** The failure that stopped it before the last order, if any. */
  failure?: unknown;
}

export interface WriteOptions {
  calls: TableCalls;
  /** Whether to look up each order instead of writing it. */
  check?: boolean | undefined;
  /** Stops it; orders being written are finished, so that the counts are right. */
  signal: AbortSignal;
  /** Called with the number of orders done so far. */
  onOrder: (done: number) => void;
}

/** Writes each order whose id is not in the table yet, several at a time, until the first failure. */
export async function writeOrders(
  target: Target,
  orders: AsyncIterable<OrderItem>,
  { calls, check, signal, onOrder }: WriteOptions,
): Promise<Written> {
  const result: Written = { done: 0, written: 0, alreadyThere: 0, differing: new Findings() };
  const put = async (order: OrderItem, stop: AbortSignal): Promise<void> => {
    const id = BigInt(order["id"]?.N ?? 0);
    const found = check ? await findOrder(target, id, calls, stop) : await putOrder(calls, target, order, stop);
    if (found) {
      result.alreadyThere++;
      const fields = differences(order, found);
      if (fields.length > 0) result.differing.add(fields.join(", "), { id, fields });
    } else if (!check) result.written++;
    onOrder(++result.done);
  };
  const failure = await workThrough(orders, put, signal);
  return { ...result, ...(failure !== undefined && { failure }) };
}

/** Writes an order, and gives the one that was there before it. */
async function putOrder(
  calls: TableCalls,
  { client, ordersTable }: Target,
  order: OrderItem,
  stop: AbortSignal,
): Promise<OrderItem | undefined> {
  const command = new PutItemCommand({
    TableName: ordersTable,
    Item: order,
    ConditionExpression: "attribute_not_exists(id)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    ReturnConsumedCapacity: "TOTAL",
  });
  const result = await calls.write("PutItem", () => client.send(command), stop);
  if (result.applied) return undefined;
  const found = result.found ?? {};
  // A later attempt that finds this very order finds what an earlier one wrote, its response lost.
  return result.retried && differences(order, found).length === 0 ? undefined : found;
}

/** The names of the attributes in which two orders differ. */
function differences(a: OrderItem, b: OrderItem): string[] {
  const names = Object.keys({ ...a, ...b }).sort();
  return names.filter((name) => !isDeepStrictEqual(attributeJson(a[name]), attributeJson(b[name])));
}
