import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  ConditionalCheckFailedException,
  ProvisionedThroughputExceededException,
  PutItemCommand,
  RequestLimitExceeded,
  ThrottlingException,
} from "@aws-sdk/client-dynamodb";
import type { OrderItem } from "../../shared/order.ts";
import type { Target } from "./target.ts";

/** Enough to keep a table busy from one machine; the client keeps 50 connections at most. */
const concurrency = 48;
/** Waits for a throttling table, with full jitter: about a minute in all, after which it is no passing peak. */
const throttleWaits = [200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 30_000, 30_000];

export interface Written {
  written: number;
  alreadyThere: number;
  /** What stopped it before the last order, if anything did. */
  failure?: unknown;
}

/**
 * Writes each order unless its id is in the table already, several at a time. The first failure stops it, as does
 * `signal`; writes under way are waited for, so that the counts are right.
 *
 * @param onOrder called with the number of orders done so far.
 */
export async function writeOrders(
  target: Target,
  orders: AsyncIterable<OrderItem>,
  signal: AbortSignal,
  onOrder: (done: number) => void,
): Promise<Written> {
  const result: Written = { written: 0, alreadyThere: 0 };
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  // All writers draw from the one generator: it hands each order to one of them, and is read no faster than they write.
  const writer = async (): Promise<void> => {
    for await (const order of orders) {
      if (stop.aborted) return;
      result[await putOrder(target, order, stop)]++;
      onOrder(result.written + result.alreadyThere);
    }
  };
  const guarded = Array.from({ length: concurrency }, () =>
    writer().catch((error: unknown) => {
      if (stop.aborted) return;
      result.failure = error;
      failed.abort();
    }),
  );
  await Promise.all(guarded);
  return result;
}

async function putOrder(
  { client, ordersTable }: Target,
  order: OrderItem,
  stop: AbortSignal,
): Promise<"written" | "alreadyThere"> {
  const command = new PutItemCommand({
    TableName: ordersTable,
    Item: order,
    ConditionExpression: "attribute_not_exists(id)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  for (let tries = 0; ; tries++) {
    try {
      await client.send(command);
      return "written";
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) {
        // A second attempt that finds this very order finds what the first one wrote, its answer lost.
        const ours = (tries > 0 || (error.$metadata.attempts ?? 1) > 1) && isDeepStrictEqual(error.Item, order);
        return ours ? "written" : "alreadyThere";
      }
      const wait = throttleWaits[tries];
      if (wait === undefined || !isThrottled(error)) throw error;
      await setTimeout(Math.random() * wait, undefined, { signal: stop });
    }
  }
}

function isThrottled(error: unknown): boolean {
  return [ProvisionedThroughputExceededException, RequestLimitExceeded, ThrottlingException].some(
    (throttling) => error instanceof throttling,
  );
}
