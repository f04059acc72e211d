import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  ScanCommand,
  type ScanCommandInput,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { systemClock } from "./clock.ts";
import { callFailed, isThrottled } from "./dynamodb.ts";
import { type ErrorCode, ServiceError } from "./errors.ts";
import type { ListPage } from "./list-page.ts";
import { type OrderItem, type OrderStatus, orderFields } from "./order.ts";
import { listPage } from "./scan-protocol.ts";

interface Cancellation {
  orderId: bigint;
  /** The id of the caller's API key. */
  cancelledBy: string;
  cancelledAt: Date;
  /**
   * The invocation's id, which no client can choose. It tells our own lost write from someone
   * else's.
   */
  cancellationId: string;
}

/**
 * Cancels an order in one conditional write: only `pending` becomes `cancelled`.
 *
 * @throws ServiceError `order_not_found`, `order_already_shipped`, `order_already_cancelled` or
 * `order_not_pending` when the order can't be cancelled; `service_unavailable` or `internal_error`
 * when the call fails, and the outcome is unknown.
 */
export async function cancelOrder(
  client: DynamoDBClient,
  table: string,
  { orderId, cancelledBy, cancelledAt, cancellationId }: Cancellation,
  abortSignal?: AbortSignal,
): Promise<void> {
  const command = new UpdateItemCommand({
    TableName: table,
    Key: { id: { N: orderId.toString() } },
    UpdateExpression:
      "SET #status = :cancelled, cancelledAt = :at, cancelledBy = :by, cancellationId = :id",
    ConditionExpression: "#status = :pending",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: {
      ":cancelled": { S: "cancelled" satisfies OrderStatus },
      ":pending": { S: "pending" satisfies OrderStatus },
      ":at": { S: cancelledAt.toISOString() },
      ":by": { S: cancelledBy },
      ":id": { S: cancellationId },
    },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  try {
    await client.send(command, abortSignal && { abortSignal });
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw callFailed(error);
    const code = rejection(error.Item);
    // The SDK retries: this may be the second attempt at a write that was applied, its response
    // lost.
    if (
      code === "order_already_cancelled" &&
      error.Item?.["cancellationId"]?.S === cancellationId
    )
      return;
    throw new ServiceError(code, error);
  }
}

function rejection(item: OrderItem | undefined): ErrorCode {
  if (item === undefined) return "order_not_found";
  if (item["status"]?.S === "shipped") return "order_already_shipped";
  if (item["status"]?.S === "cancelled") return "order_already_cancelled";
  return "order_not_pending";
}

/**
 * Makes an UpdateItem call that changes nothing, whatever the table holds: its condition requires
 * the key, a number, to be a string, which is false for every item and for a missing one. (`id <>
 * :id` would be true for a missing item, and create it.)
 *
 * @throws what the DynamoDB client throws when the call itself fails.
 */
export async function updateNothing(
  client: DynamoDBClient,
  table: string,
  abortSignal: AbortSignal,
): Promise<void> {
  const command = new UpdateItemCommand({
    TableName: table,
    Key: { id: { N: "0" } },
    ConditionExpression: "attribute_type(id, :string)",
    ExpressionAttributeValues: { ":string": { S: "S" } },
  });
  await client.send(command, { abortSignal }).catch((error) => {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  });
}

/**
 * How long one call for a page may take, in milliseconds, the SDK's retries and the body included
 * (see `callLimits`).
 */
const pageDeadline = 15_000;

/**
 * How long a list keeps making such calls while the table throttles all of them, in milliseconds.
 */
const throttlingDeadline = 60_000;

/**
 * Bounds of the random pauses between such calls, in milliseconds: the first one, doubled each time
 * up to the longest.
 */
const firstPause = 500;
const longestPause = 5_000;

// With placeholders, because a field's name may be a word that DynamoDB reserves.
const projection = {
  ProjectionExpression: orderFields.map(({ name }) => `#${name}`).join(", "),
  ExpressionAttributeNames: Object.fromEntries(
    orderFields.map(({ name }) => [`#${name}`, name]),
  ),
};

/**
 * Reads every order of the table, in no particular order, a page of up to 1 MB at a time, projected
 * to the fields of an Order. A page that the table throttles is tried again, so a busy table makes
 * a list slow, not short.
 *
 * @throws ServiceError `service_unavailable` or `internal_error` when a page can't be read.
 */
export async function* scanOrders(
  client: DynamoDBClient,
  table: string,
): AsyncGenerator<ListPage, void, void> {
  let ExclusiveStartKey: OrderItem | undefined;
  do {
    const input = {
      TableName: table,
      ExclusiveStartKey,
      ...projection,
    };
    const output = await scanPage(client, input);
    ExclusiveStartKey = output.LastEvaluatedKey;
    yield listPage(output);
  } while (ExclusiveStartKey);
}

async function scanPage(client: DynamoDBClient, input: ScanCommandInput) {
  const deadline = systemClock.now() + throttlingDeadline;
  for (let longest = firstPause; ; longest = Math.min(2 * longest, longestPause)) {
    try {
      return await client.send(new ScanCommand(input), {
        abortSignal: AbortSignal.timeout(pageDeadline),
      });
    } catch (error) {
      const remaining = deadline - systemClock.now();
      if (!isThrottled(error) || remaining <= 0) throw callFailed(error);
      await systemClock.pause(Math.min(Math.random() * longest, remaining));
    }
  }
}

/** Reads at most one order. */
export async function scanOne(
  client: DynamoDBClient,
  table: string,
  abortSignal: AbortSignal,
): Promise<void> {
  await client.send(new ScanCommand({ TableName: table, Limit: 1 }), { abortSignal });
}
