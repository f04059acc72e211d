import { GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { EmptyResponseError, isUnavailable } from "../../shared/dynamodb.ts";
import type { OrderItem, OrderStatus } from "../../shared/order.ts";
import { errorLine } from "./errors.ts";
import { TableCalls } from "./table-calls.ts";
import type { Target } from "./target.ts";

/**
 * Reads an order, consistently.
 *
 * @returns undefined when there is none with this id.
 * @throws EmptyResponseError, and what the DynamoDB client throws.
 */
export async function findOrder(
  { client, ordersTable }: Target,
  id: bigint,
  calls = new TableCalls(),
  signal?: AbortSignal,
): Promise<OrderItem | undefined> {
  const command = new GetItemCommand({
    TableName: ordersTable,
    Key: { id: { N: id.toString() } },
    ConsistentRead: true,
    ReturnConsumedCapacity: "TOTAL",
  });
  return (await calls.make("GetItem", () => client.send(command), 1, signal)).Item;
}

/** The outcome of shipping an order. */
export interface Shipment {
  id: bigint;
  /** `not_pending`: it has a status that we don't know, or none. `unknown`: it may have shipped or not. */
  outcome: "shipped" | "already_shipped" | "cancelled" | "not_found" | "not_pending" | "unknown";
  shipDate?: string | undefined;
  status?: string | undefined;
  /** Why the outcome is unknown. */
  reason?: string;
}

/**
 * Ships an order in one conditional write: only `pending` becomes `shipped`.
 *
 * @param shipDate also tells this write from another's: a later attempt that finds it finds what an earlier one wrote,
 *   its response lost.
 * @throws what the DynamoDB client throws when the order can't have shipped.
 */
export async function shipOrder(
  { client, ordersTable }: Target,
  id: bigint,
  shipDate: string,
  calls: TableCalls,
  signal: AbortSignal,
): Promise<Shipment> {
  const command = new UpdateItemCommand({
    TableName: ordersTable,
    Key: { id: { N: id.toString() } },
    UpdateExpression: "SET #status = :shipped, shipDate = :shipDate, complete = :true",
    ConditionExpression: "#status = :pending",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: {
      ":pending": { S: "pending" satisfies OrderStatus },
      ":shipped": { S: "shipped" satisfies OrderStatus },
      ":shipDate": { S: shipDate },
      ":true": { BOOL: true },
    },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    ReturnConsumedCapacity: "TOTAL",
  });
  try {
    const result = await calls.write("UpdateItem", () => client.send(command), signal);
    if (result.applied) return { id, outcome: "shipped", shipDate };
    const { status, shipDate: shipped } = result.found ?? {};
    if (!result.found) return { id, outcome: "not_found" };
    if (status?.S === "cancelled") return { id, outcome: "cancelled" };
    if (status?.S !== "shipped") return { id, outcome: "not_pending", status: status?.S };
    const ours = result.retried && shipped?.S === shipDate;
    return { id, outcome: ours ? "shipped" : "already_shipped", shipDate: shipped?.S };
  } catch (error) {
    if (signal.aborted || !(error instanceof EmptyResponseError || isUnavailable(error))) throw error;
    return { id, outcome: "unknown", reason: errorLine(error) };
  }
}
