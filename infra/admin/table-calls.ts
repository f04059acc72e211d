import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  type GetItemCommandInput,
  PutItemCommand,
  ScanCommand,
  type ScanCommandOutput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { systemClock } from "../../shared/clock.ts";
import { isThrottled } from "../../shared/dynamodb.ts";
import type { OrderItem, OrderStatus } from "../../shared/order.ts";
import { sameAttribute } from "../orders-file/attribute-json.ts";

/**
 * Milliseconds to wait at most, with full jitter, before each further attempt at a throttled call:
 * a minute or so.
 */
const throttleWaits = [200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 30_000, 30_000];

/** The condition that an item must meet to be updated. */
export type Condition = Pick<
  UpdateItemCommandInput,
  "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues"
>;

/** Holds while an order is pending. */
export const whilePending: Condition = {
  ConditionExpression: "#status = :pending",
  ExpressionAttributeNames: { "#status": "status" },
  ExpressionAttributeValues: { ":pending": { S: "pending" satisfies OrderStatus } },
};

/** A write that was not applied, and the item that did not meet its condition, if there is one. */
export interface Unmet {
  found: OrderItem | undefined;
}

/** The output of a call that asked for `ReturnConsumedCapacity: "TOTAL"`. */
type Metered = Pick<ScanCommandOutput, "ConsumedCapacity">;

const conditional = {
  ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  ReturnConsumedCapacity: "TOTAL",
} as const;

/**
 * Makes calls to tables, at a rate that leaves capacity for the service, and waits while a table
 * throttles.
 */
export class TableCalls {
  readonly #client: DynamoDBClient;
  readonly #millisecondsPerUnit: number;
  readonly #clock: typeof systemClock;
  /** When the next call may begin. */
  #next = 0;

  /** @param rate the most capacity units a second. */
  constructor(client: DynamoDBClient, rate = Number.POSITIVE_INFINITY, clock = systemClock) {
    this.#client = client;
    this.#millisecondsPerUnit = 1000 / rate;
    this.#clock = clock;
  }

  /**
   * Makes a call when its turn comes, and again, for about a minute, while the table throttles it.
   *
   * @param units how many it is likely to use; later calls wait for as many as it really used.
   * @param signal ends its waits, but not the call itself.
   * @throws what the DynamoDB client throws.
   */
  async make<Output extends Metered>(
    send: () => Promise<Output>,
    units: number,
    signal?: AbortSignal,
  ): Promise<Output> {
    for (let tries = 0; ; tries++) {
      const now = this.#clock.now();
      const turn = Math.max(now, this.#next);
      this.#next = turn + units * this.#millisecondsPerUnit;
      if (turn > now) await this.#clock.pause(turn - now, signal);
      try {
        const output = await send();
        this.#next +=
          ((output.ConsumedCapacity?.CapacityUnits ?? units) - units) * this.#millisecondsPerUnit;
        return output;
      } catch (error) {
        const longest = throttleWaits[tries];
        if (longest === undefined || !isThrottled(error)) throw error;
        await this.#clock.pause(Math.random() * longest, signal);
      }
    }
  }

  /** Reads an item; undefined when there is none with this key. */
  async get(input: GetItemCommandInput, signal?: AbortSignal): Promise<OrderItem | undefined> {
    const command = new GetItemCommand({ ...input, ReturnConsumedCapacity: "TOTAL" });
    return (
      await this.make(() => this.#client.send(command), input.ConsistentRead ? 1 : 0.5, signal)
    ).Item;
  }

  /**
   * Writes an item unless one with this partition key is there. Resolves with undefined once it is
   * written.
   */
  insert(
    TableName: string,
    key: string,
    Item: OrderItem,
    signal?: AbortSignal,
  ): Promise<Unmet | undefined> {
    const ConditionExpression = `attribute_not_exists(${key})`;
    const command = new PutItemCommand({ TableName, Item, ConditionExpression, ...conditional });
    return this.#write(Item, () => this.#client.send(command), signal);
  }

  /**
   * Sets attributes of an item that meets a condition. Resolves with undefined once they are set.
   */
  update(
    TableName: string,
    Key: OrderItem,
    set: OrderItem,
    condition: Condition,
    signal?: AbortSignal,
  ): Promise<Unmet | undefined> {
    const placeholders = <Value>(sign: string, values: Value[]): Record<string, Value> =>
      Object.fromEntries(values.map((value, at) => [`${sign}${at}`, value]));
    const command = new UpdateItemCommand({
      TableName,
      Key,
      ...condition,
      UpdateExpression: `SET ${Object.keys(set).map((_, at) => `#${at} = :${at}`)}`,
      ExpressionAttributeNames: {
        ...condition.ExpressionAttributeNames,
        ...placeholders("#", Object.keys(set)),
      },
      ExpressionAttributeValues: {
        ...condition.ExpressionAttributeValues,
        ...placeholders(":", Object.values(set)),
      },
      ...conditional,
    });
    return this.#write(set, () => this.#client.send(command), signal);
  }

  async #write(
    attributes: OrderItem,
    send: () => Promise<Metered>,
    signal?: AbortSignal,
  ): Promise<Unmet | undefined> {
    let attempts = 0;
    const counted = (): Promise<Metered> => {
      attempts++;
      return send();
    };
    try {
      await this.make(counted, 1, signal);
      return undefined;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const { Item: found, $metadata } = error;
      const retried = attempts > 1 || ($metadata.attempts ?? 1) > 1;
      // A later attempt may find what an earlier one wrote, its response lost.
      const ours =
        retried &&
        Object.keys(attributes).every((name) => sameAttribute(attributes[name], found?.[name]));
      return ours ? undefined : { found };
    }
  }

  /** Reads a table, consistently, a page at a time, until the signal aborts. */
  async *scan(TableName: string, signal?: AbortSignal): AsyncGenerator<OrderItem[], void, void> {
    let ExclusiveStartKey: OrderItem | undefined;
    do {
      const command = new ScanCommand({
        TableName,
        ConsistentRead: true,
        ReturnConsumedCapacity: "TOTAL",
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      });
      const send = (): Promise<ScanCommandOutput> =>
        this.#client.send(command, signal && { abortSignal: signal });
      const { Items = [], LastEvaluatedKey } = await this.make(send, 0, signal);
      yield Items;
      ExclusiveStartKey = LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }
}
