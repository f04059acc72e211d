import { GetItemCommand, type UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import * as dynamodb from "../../shared/dynamodb.ts";
import { errors, ServiceError } from "../../shared/errors.ts";
import { type Cancel, cancel, type Invocation, maxAttempts } from "./actors.ts";
import type { Connect } from "./recorded-client.ts";
import { orderId, tableName } from "./remembered-table.ts";

/** Ten wrong ways to cancel an order, each of which looks right to someone. */
export const plantedBugs: Record<string, Cancel> = {
  "no condition": (connect, invocation) => cancel(writing(connect, always), invocation),

  "a condition on not being shipped": (connect, invocation) => {
    const ConditionExpression = "#status IN (:pending, :cancelled)";
    return cancel(writing(connect, { ConditionExpression }), invocation);
  },

  "its own id ignored": (connect, invocation) => {
    const UpdateExpression =
      "SET #status = :cancelled, cancelledAt = :at, cancelledBy = :by, note = :id";
    return cancel(writing(connect, { UpdateExpression }), invocation);
  },

  "its own id taken from the gateway's request": (connect, invocation) =>
    cancel(connect, { ...invocation, awsRequestId: invocation.gatewayRequestId }),

  "its own id made anew for each attempt": (connect, invocation) =>
    retry((attempt) => {
      const awsRequestId = `${invocation.awsRequestId}, ${attempt}`;
      return once(connect, { ...invocation, awsRequestId });
    }),

  "the status compared after a read": async (connect, invocation) => {
    const key = { TableName: tableName, Key: { id: { N: `${orderId}` } } };
    const { Item } = await connect(maxAttempts).send(new GetItemCommand(key));
    const isPending = Item?.["status"]?.S === "pending";
    await cancel(isPending ? writing(connect, always) : connect, invocation);
  },

  "204 for any cancelled order": (connect, invocation) =>
    cancel(connect, invocation).catch((error) => {
      if (!isAlreadyCancelled(error)) throw error;
    }),

  "a retry judged by the first error": async (connect, invocation) => {
    let first: unknown;
    await retry(() =>
      once(connect, invocation).catch((error) => {
        // "There was no response, so it must have been ours that cancelled it."
        if (first !== undefined && !isThrottled(first) && isAlreadyCancelled(error))
          return;
        first ??= error;
        throw error;
      }),
    );
  },

  "a late copy that wins after a ship": (connect, invocation) => {
    // "It had not shipped yet when the client asked." The service sets :at to that time.
    const ConditionExpression = "#status = :pending OR shipDate > :at";
    return once(writing(connect, { ConditionExpression }), invocation);
  },

  "404 for a throttled write": (connect, invocation) =>
    cancel(connect, invocation).catch((error) => {
      throw isThrottled(error) ? new ServiceError("order_not_found") : error;
    }),
};

const always = { ConditionExpression: "#status = :pending OR #status <> :pending" };

/** Changes the service's write before it is sent. */
function writing(connect: Connect, changes: Partial<UpdateItemCommandInput>): Connect {
  return (...parameters) => {
    const client = connect(...parameters);
    client.middlewareStack.add(
      (next) => (args) => next({ ...args, input: { ...args.input, ...changes } }),
      { step: "initialize" },
    );
    return client;
  };
}

function once(connect: Connect, invocation: Invocation) {
  return cancel(() => connect(1), invocation);
}

/** Tries until the outcome is known, as often as the service does. */
async function retry(work: (attempt: number) => Promise<void>) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      const isKnown = !(error instanceof ServiceError) || errors[error.code].status < 500;
      if (isKnown || attempt === maxAttempts) throw error;
    }
  }
}

function isAlreadyCancelled(error: unknown) {
  return error instanceof ServiceError && error.code === "order_already_cancelled";
}

function isThrottled(error: unknown) {
  return error instanceof ServiceError && dynamodb.isThrottled(error.cause);
}
