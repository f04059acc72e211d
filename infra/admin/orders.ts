import { ConditionalCheckFailedException, GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { OrderItem, OrderStatus } from "../../shared/order.ts";
import { Refusal } from "./refusal.ts";
import type { Target } from "./target.ts";

/**
 * The order with this id as the table holds it at this moment.
 *
 * @throws Refusal when there is none.
 */
export async function readOrder({ client, ordersTable }: Target, id: bigint): Promise<OrderItem> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: ordersTable, Key: { id: { N: id.toString() } }, ConsistentRead: true }),
  );
  if (!Item) throw new Refusal(`No order has the id ${id}`);
  return Item;
}

/**
 * Ships an order in one conditional write: `pending` becomes `shipped`, and nothing else does.
 *
 * @throws Refusal when the order is not pending, or there is none.
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
  });
  try {
    await client.send(command);
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    // A second attempt, and shipped: the first may have done it and its answer been lost. Either way it is as asked.
    if ((error.$metadata.attempts ?? 1) > 1 && error.Item?.["status"]?.S === "shipped") return;
    throw new Refusal(whyNot(id, error.Item));
  }
}

function whyNot(id: bigint, item: OrderItem | undefined): string {
  if (!item) return `No order has the id ${id}`;
  const status = item["status"]?.S;
  if (status === "shipped") return `Order ${id} has shipped already`;
  if (status === "cancelled") return `Order ${id} has been cancelled: it cannot ship`;
  return `Order ${id} is not pending but ${status ?? "without a status"}: it cannot ship`;
}
