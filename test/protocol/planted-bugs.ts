import type { AttributeValue, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { errors } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { bundled } from "../helpers/bundled/bundled.ts";
import { type Cancel, cancel, type Invocation, maxAttempts } from "./actors.ts";
import type { Connect } from "./recorded-client.ts";
import { orderId, tableName } from "./remembered-table.ts";

const { callFailed, ConditionalCheckFailedException, GetItemCommand, ServiceError } = bundled;
const { UpdateItemCommand } = bundled;

/** Ten wrong ways to cancel an order, each of which looks right to someone. */
export const plantedBugs: Record<string, Cancel> = {
  "no condition": async (connect, invocation) => {
    await write(connect(maxAttempts), invocation);
  },

  "a condition on not being shipped": async (connect, invocation) => {
    const notShipped = {
      expression: "#status <> :shipped",
      values: { ":shipped": { S: "shipped" } },
    };
    await write(connect(maxAttempts), invocation, notShipped);
  },

  "its own id ignored": async (connect, invocation) => {
    await write(connect(maxAttempts), invocation, isPending);
  },

  "its own id taken from the gateway's request": (connect, invocation) =>
    cancel(connect, { ...invocation, awsRequestId: invocation.gatewayRequestId }),

  "its own id made anew for each attempt": (connect, invocation) =>
    retry((attempt) =>
      once(connect, { ...invocation, awsRequestId: `${invocation.awsRequestId}, ${attempt}` }),
    ),

  "the status compared after a read": async (connect, invocation) => {
    const client = connect(maxAttempts);
    const item = await read(client);
    if (item?.["status"]?.S !== "pending") throw rejection(item);
    await write(client, invocation);
  },

  "204 for any cancelled order": async (connect, invocation) => {
    try {
      await cancel(connect, invocation);
    } catch (error) {
      if (!isAlreadyCancelled(error)) throw error;
    }
  },

  "a retry judged by the first error": async (connect, invocation) => {
    let first: unknown;
    await retry(async () => {
      try {
        await once(connect, invocation);
      } catch (error) {
        // "There was no response, so it must have been ours that cancelled it."
        if (first !== undefined && !isThrottled(first) && isAlreadyCancelled(error)) return;
        first ??= error;
        throw error;
      }
    });
  },

  "a late copy that wins after a ship": async (connect, invocation) => {
    // "It had not shipped yet when the client asked." `write` sets :at to that time.
    const pendingWhenAsked = {
      expression: `${isPending.expression} OR shipDate > :at`,
      values: isPending.values,
    };
    await write(connect(1), invocation, pendingWhenAsked);
  },

  "404 for a throttled write": async (connect, invocation) => {
    try {
      await cancel(connect, invocation);
    } catch (error) {
      throw isThrottled(error) ? new ServiceError("order_not_found", error) : error;
    }
  },
};

interface Condition {
  expression: string;
  values: Record<string, AttributeValue>;
}

const isPending: Condition = {
  expression: "#status = :pending",
  values: { ":pending": { S: "pending" } },
};

/**
 * The service's write with another condition, or with none. When the condition fails, it rejects
 * the cancellation, even if it was this one that cancelled the order.
 */
async function write(
  client: DynamoDBClient,
  invocation: Invocation,
  condition?: Condition,
): Promise<void> {
  const command = new UpdateItemCommand({
    TableName: tableName,
    Key: { id: { N: orderId.toString() } },
    UpdateExpression: "SET #status = :cancelled, cancelledAt = :at, cancelledBy = :by",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: {
      ":cancelled": { S: "cancelled" },
      ":at": { S: invocation.askedAt.toISOString() },
      ":by": { S: invocation.keyId },
      ...condition?.values,
    },
    ...(condition && { ConditionExpression: condition.expression }),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  try {
    await client.send(command);
  } catch (error) {
    throw error instanceof ConditionalCheckFailedException
      ? rejection(error.Item)
      : callFailed(error);
  }
}

async function read(client: DynamoDBClient): Promise<OrderItem | undefined> {
  const command = new GetItemCommand({
    TableName: tableName,
    Key: { id: { N: orderId.toString() } },
    ConsistentRead: true,
  });
  try {
    const { Item } = await client.send(command);
    return Item;
  } catch (error) {
    throw callFailed(error);
  }
}

/** The service's own cancellation, with a single attempt. */
function once(connect: Connect, invocation: Invocation): Promise<void> {
  return cancel(() => connect(1), invocation);
}

/** Tries until the outcome is known, as often as the service does. */
async function retry(work: (attempt: number) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      const isKnown = !(error instanceof ServiceError) || errors[error.code].status < 500;
      if (isKnown || attempt === maxAttempts) throw error;
    }
  }
}

function rejection(item: OrderItem | undefined): Error {
  if (item === undefined) return new ServiceError("order_not_found");
  if (item["status"]?.S === "shipped") return new ServiceError("order_already_shipped");
  if (item["status"]?.S === "cancelled") return new ServiceError("order_already_cancelled");
  return new ServiceError("order_not_pending");
}

function isAlreadyCancelled(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "order_already_cancelled";
}

function isThrottled(error: unknown): boolean {
  return error instanceof ServiceError && bundled.isThrottled(error.cause);
}
