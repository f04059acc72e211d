import { ConditionalCheckFailedException, GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { EmptyResponseError } from "../../shared/dynamodb.ts";
import type { OrderItem, OrderStatus } from "../../shared/order.ts";
import { CommandError } from "./errors.ts";
import type { Target } from "./target.ts";

/**
 * Reads an order, consistently.
 *
 * @throws CommandError when there is none with this id, EmptyResponseError.
 */
export async function readOrder({ client, ordersTable }: Target, id: bigint): Promise<OrderItem> {
  const { Item, ConsumedCapacity } = await client.send(
    new GetItemCommand({
      TableName: ordersTable,
      Key: { id: { N: id.toString() } },
      ConsistentRead: true,
      ReturnConsumedCapacity: "TOTAL",
    }),
  );
  if (ConsumedCapacity === undefined) throw new EmptyResponseError("GetItem");
  if (!Item) throw new CommandError(`No order has the id ${id}`);
  return Item;
}

/**
 * Ships an order in one conditional write: only `pending` becomes `shipped`.
 *
 * @throws CommandError when the order is not pending or does not exist, EmptyResponseError.
 */
export async function shipOrder({ client, ordersTable }: Target, id: bigint): Promise<void> {
  const command = new UpdateItemCommand({
    TableName: ordersTable,
    Key: { id: { N: id.toString() } },
    UpdateExpression: "SET #status = :shipped",
    ConditionExpression: "#status = :pending",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: {
      ":pending": { S: "pending" satisfies OrderStatus },
      ":shipped": { S: "shipped" satisfies OrderStatus },
    },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    ReturnConsumedCapacity: "TOTAL",
  });
  try {
    const { ConsumedCapacity } = await client.send(command);
    if (ConsumedCapacity === undefined) throw new EmptyResponseError("UpdateItem");
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    // A retry that finds it shipped may find what the first attempt did, its response lost. Either way it has shipped.
    if ((error.$metadata.attempts ?? 1) > 1 && error.Item?.["status"]?.S === "shipped") return;
    throw new CommandError(whyNotShipped(id, error.Item));
  }
}

function whyNotShipped(id: bigint, item: OrderItem | undefined): string {
  if (!item) return `No order has the id ${id}`;
  const status = item["status"]?.S;
  if (status === "shipped") return `Order ${id} has already shipped`;
  if (status === "cancelled") return `Order ${id} is cancelled and can't ship`;
  return `Order ${id} has ${status === undefined ? "no status" : `the status ${status}`} and can't ship`;
}
