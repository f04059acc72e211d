import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  ScanCommand,
  type ScanCommandInput,
  type ScanCommandOutput,
} from "@aws-sdk/client-dynamodb";
import { type DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { callFailed } from "./dynamodb.ts";
import { type ErrorCode, ServiceError } from "./errors.ts";
import type { OrderStatus } from "./order.ts";

/** An order as the low-level client reads it: a number is the text that DynamoDB sent. */
export type OrderItem = Record<string, AttributeValue>;

export interface Cancellation {
  orderId: bigint;
  /** The id of the API key that asks for it. */
  cancelledBy: string;
  cancelledAt: Date;
  /** One invocation's own id, which no client can choose: it tells our own lost write from another's. */
  cancellationId: string;
}

/**
 * Cancels an order in one conditional write: `pending` becomes `cancelled`, and nothing else does (contract, section 3).
 *
 * @throws ServiceError `order_not_found`, `order_already_shipped`, `order_already_cancelled` or `order_not_pending`
 *   when the order says no; `service_unavailable` or `internal_error` when the table does, the outcome then unknown.
 */
export async function cancelOrder(
  client: DynamoDBDocumentClient,
  table: string,
  { orderId, cancelledBy, cancelledAt, cancellationId }: Cancellation,
  abortSignal?: AbortSignal,
): Promise<void> {
  const command = new UpdateCommand({
    TableName: table,
    Key: { id: orderId },
    UpdateExpression:
      "SET #status = :cancelled, cancelledAt = :at, cancelledBy = :by, cancellationId = :cancellationId",
    ConditionExpression: "#status = :pending",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: {
      ":cancelled": "cancelled" satisfies OrderStatus,
      ":pending": "pending" satisfies OrderStatus,
      ":at": cancelledAt.toISOString(),
      ":by": cancelledBy,
      ":cancellationId": cancellationId,
    },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    ReturnConsumedCapacity: "TOTAL",
  });
  try {
    const { ConsumedCapacity } = await client.send(command, abortSignal && { abortSignal });
    // An answer that was lost on its way can reach the SDK as an empty 200, which must not pass for a cancellation.
    if (ConsumedCapacity === undefined) throw new Error("The answer to an UpdateItem is empty");
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw callFailed(error);
    const code = refusal(error.Item);
    // The SDK retries: this may be the second attempt of a write that was applied and whose answer was lost.
    if (code === "order_already_cancelled" && error.Item?.["cancellationId"]?.S === cancellationId) return;
    throw new ServiceError(code, error);
  }
}

function refusal(item: OrderItem | undefined): ErrorCode {
  if (item === undefined) return "order_not_found";
  if (item["status"]?.S === "shipped") return "order_already_shipped";
  if (item["status"]?.S === "cancelled") return "order_already_cancelled";
  return "order_not_pending";
}

/** Longest time for one page to arrive whole, its retries included, in milliseconds. */
const pageDeadline = 15_000;

/**
 * Every order of the table, a page of up to 1 MB of items at a time, each projected to the contract's five fields, in
 * no particular order.
 *
 * @throws ServiceError `service_unavailable` or `internal_error` when a page can't be had.
 */
export async function* scanOrders(client: DynamoDBClient, table: string): AsyncGenerator<OrderItem[], void, void> {
  let ExclusiveStartKey: OrderItem | undefined;
  do {
    const { Items, LastEvaluatedKey }: ScanCommandOutput = await scanPage(client, {
      TableName: table,
      ProjectionExpression: "id, petId, quantity, shipDate, complete",
      ...(ExclusiveStartKey && { ExclusiveStartKey }),
    });
    // An answer that was lost on its way can reach the SDK as an empty 200, which must not pass for the end of the list.
    if (Items === undefined) throw callFailed(new Error("The answer to a Scan has no Items"));
    yield Items;
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey);
}

async function scanPage(client: DynamoDBClient, input: ScanCommandInput): Promise<ScanCommandOutput> {
  try {
    return await client.send(new ScanCommand(input), { abortSignal: AbortSignal.timeout(pageDeadline) });
  } catch (error) {
    throw callFailed(error);
  }
}
