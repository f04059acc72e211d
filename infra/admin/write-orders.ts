import { isDeepStrictEqual } from "node:util";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../shared/order.ts";
import { TableCalls, type TableCallsOptions } from "./table-calls.ts";
import type { Target } from "./target.ts";
import { workThrough } from "./work-through.ts";

export interface Written {
  written: number;
  alreadyThere: number;
  /** The failure that stopped it before the last order, if any. */
  failure?: unknown;
}

export interface WriteOptions extends TableCallsOptions {
  /** Stops it; orders being written are finished, so that the counts are right. */
  signal: AbortSignal;
  /** Called with the number of orders done so far. */
  onOrder: (done: number) => void;
}

/** Writes each order whose id is not in the table yet, several at a time, until the first failure. */
export async function writeOrders(
  { client, ordersTable }: Target,
  orders: AsyncIterable<OrderItem>,
  { signal, onOrder, ...options }: WriteOptions,
): Promise<Written> {
  const calls = new TableCalls(options);
  const counts = { written: 0, alreadyThere: 0 };
  const put = async (order: OrderItem, stop: AbortSignal): Promise<void> => {
    const command = new PutItemCommand({
      TableName: ordersTable,
      Item: order,
      ConditionExpression: "attribute_not_exists(id)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      ReturnConsumedCapacity: "TOTAL",
    });
    const result = await calls.write("PutItem", () => client.send(command), stop);
    // A later attempt that finds this very order finds what an earlier one wrote, its response lost.
    const ours = result.applied || (result.retried && isDeepStrictEqual(result.found, order));
    counts[ours ? "written" : "alreadyThere"]++;
    onOrder(counts.written + counts.alreadyThere);
  };
  const failure = await workThrough(orders, put, signal);
  return { ...counts, ...(failure !== undefined && { failure }) };
}
