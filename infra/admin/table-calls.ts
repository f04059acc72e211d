import { setTimeout } from "node:timers/promises";
import {
  ConditionalCheckFailedException,
  type ConsumedCapacity,
  type DynamoDBClient,
  ScanCommand,
  type ScanCommandOutput,
} from "@aws-sdk/client-dynamodb";
import { EmptyResponseError, isThrottled } from "../../shared/dynamodb.ts";
import type { OrderItem } from "../../shared/order.ts";

/** Milliseconds to wait at most, with full jitter, before each further attempt at a throttled call: a minute or so. */
const throttleWaits = [200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 30_000, 30_000];

/** How a conditional write ended. */
export type WriteResult =
  | { applied: true }
  /** `found`: the item that failed the condition. `retried`: this very write may have made it, its response lost. */
  | { applied: false; found: OrderItem | undefined; retried: boolean };

/** A response to a call that asked for `ReturnConsumedCapacity: "TOTAL"`. */
interface Response {
  ConsumedCapacity?: ConsumedCapacity | undefined;
}

/** Makes calls to tables, at a rate that leaves capacity for the service, and waits while a table throttles. */
export class TableCalls {
  readonly #millisecondsPerUnit: number;
  readonly #wait: typeof waitByTheClock;
  /** When the next call may begin, in the time of `performance.now()`. */
  #next = 0;

  /** @param rate the most capacity units a second. */
  constructor(rate = Number.POSITIVE_INFINITY, wait = waitByTheClock) {
    this.#millisecondsPerUnit = 1000 / rate;
    this.#wait = wait;
  }

  /**
   * Makes a call when its turn comes, and again, for about a minute, while the table throttles it.
   *
   * @param operation its name in DynamoDB.
   * @param units how many it is likely to use; later calls wait for as many as it really used.
   * @param signal ends its waits, but not the call itself.
   * @throws EmptyResponseError, and what the DynamoDB client throws.
   */
  async make<Output extends Response>(
    operation: string,
    send: () => Promise<Output>,
    units: number,
    signal?: AbortSignal,
  ): Promise<Output> {
    for (let tries = 0; ; tries++) {
      await this.#turn(units, signal);
      try {
        const output = await send();
        if (output.ConsumedCapacity === undefined) throw new EmptyResponseError(operation);
        this.#next += ((output.ConsumedCapacity.CapacityUnits ?? units) - units) * this.#millisecondsPerUnit;
        return output;
      } catch (error) {
        const longest = throttleWaits[tries];
        if (longest === undefined || !isThrottled(error)) throw error;
        await this.#wait(Math.random() * longest, signal);
      }
    }
  }

  /** Makes a conditional write that asks for `ReturnValuesOnConditionCheckFailure: "ALL_OLD"`. */
  async write(operation: string, send: () => Promise<Response>, signal?: AbortSignal): Promise<WriteResult> {
    let attempts = 0;
    const counted = (): Promise<Response> => {
      attempts++;
      return send();
    };
    try {
      await this.make(operation, counted, 1, signal);
      return { applied: true };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return { applied: false, found: error.Item, retried: attempts > 1 || (error.$metadata.attempts ?? 1) > 1 };
    }
  }

  /** Reads a table, consistently, a page at a time, until the signal aborts. */
  async *scan(client: DynamoDBClient, table: string, signal?: AbortSignal): AsyncGenerator<OrderItem[], void, void> {
    let ExclusiveStartKey: OrderItem | undefined;
    do {
      const command = new ScanCommand({
        TableName: table,
        ConsistentRead: true,
        ReturnConsumedCapacity: "TOTAL",
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      });
      const send = (): Promise<ScanCommandOutput> => client.send(command, signal && { abortSignal: signal });
      const { Items = [], LastEvaluatedKey } = await this.make("Scan", send, 0, signal);
      yield Items;
      ExclusiveStartKey = LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }

  async #turn(units: number, signal: AbortSignal | undefined): Promise<void> {
    const now = performance.now();
    const turn = Math.max(now, this.#next);
    this.#next = turn + units * this.#millisecondsPerUnit;
    if (turn > now) await this.#wait(turn - now, signal);
  }
}

/** Rejects when the signal aborts. */
async function waitByTheClock(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, signal && { signal });
}
