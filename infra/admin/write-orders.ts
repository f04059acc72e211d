import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ConditionalCheckFailedException, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { isThrottled } from "../../shared/dynamodb.ts";
import type { OrderItem } from "../../shared/order.ts";
import { CommandError } from "./errors.ts";
import type { Target } from "./target.ts";

/** Enough to keep a table busy from one machine; the client opens 50 connections at most. */
const concurrency = 48;
/** Milliseconds to wait at most, with full jitter, before each further attempt at a throttled write: a minute or so. */
const throttleWaits = [200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 30_000, 30_000];

export interface Written {
  written: number;
  alreadyThere: number;
  /** What stopped it before the last order, if anything did. */
  failure?: unknown;
}

export interface WriteOptions {
  /** Stops it; orders being written are finished, so that the counts are right. */
  signal: AbortSignal;
  /** Called with the number of orders done so far. */
  onOrder: (done: number) => void;
  /** Waits this many milliseconds; rejects when the signal aborts. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Writes each order whose id is not in the table yet, several at a time, until the first failure. */
export async function writeOrders(
  target: Target,
  orders: AsyncIterable<OrderItem>,
  { signal, onOrder, wait = (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }) }: WriteOptions,
): Promise<Written> {
  const result: Written = { written: 0, alreadyThere: 0 };
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const waitFor = (milliseconds: number): Promise<void> => wait(milliseconds, stop);
  // All writers share the one iterator, so each order goes to one of them, and is read only when one is free.
  const writer = async (): Promise<void> => {
    for await (const order of orders) {
      if (stop.aborted) return;
      result[await putOrder(target, order, waitFor)]++;
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
  wait: (milliseconds: number) => Promise<void>,
): Promise<"written" | "alreadyThere"> {
  const command = new PutItemCommand({
    TableName: ordersTable,
    Item: order,
    ConditionExpression: "attribute_not_exists(id)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    ReturnConsumedCapacity: "TOTAL",
  });
  for (let tries = 0; ; tries++) {
    try {
      const { ConsumedCapacity } = await client.send(command);
      if (ConsumedCapacity === undefined) throw new CommandError("The response to PutItem is empty");
      return "written";
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) {
        // A later attempt that finds this very order finds what an earlier one wrote, its response lost.
        const ours = (tries > 0 || (error.$metadata.attempts ?? 1) > 1) && isDeepStrictEqual(error.Item, order);
        return ours ? "written" : "alreadyThere";
      }
      const longest = throttleWaits[tries];
      if (longest === undefined || !isThrottled(error)) throw error;
      await wait(Math.random() * longest);
    }
  }
}
