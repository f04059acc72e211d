import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  type ConsumedCapacity,
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  ScanCommand,
  type ScanCommandOutput,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { systemClock } from "../../../shared/clock.ts";
import { isThrottled, mayBeApplied } from "../../../shared/dynamodb.ts";
import type { OrderItem } from "../../../shared/order.ts";
import { type Attributes, differingAttributes } from "../orders-file/attributes.ts";
import { CommandError, errorText } from "../terminal/errors.ts";

/**
 * A throttled call is retried after at most 200 ms, then 400 ms, and so on up to this. With full
 * jitter, ten retries take a minute or so.
 */
const longestWait = 30_000;
const throttleRetries = 10;

/** The key of an item, which an item from a table always has. */
function keyOf(key: string, item: Attributes) {
  return { [key]: item[key] ?? { NULL: true } };
}

/** The key of the order with this id. */
export function orderKey(id: string): OrderItem {
  return { id: { N: id } };
}

/** The condition that an item has these attributes, and a way to write other terms. */
function conditionOn(read: Attributes) {
  const names: Record<string, string> = {};
  const values: OrderItem = {};
  /** Like `#0 = :0`, or `#0` for an attribute without a value. */
  const term = ([name, value]: [string, AttributeValue | undefined]) => {
    const at = Object.keys(names).length;
    names[`#${at}`] = name;
    if (value === undefined) return `#${at}`;
    values[`:${at}`] = value;
    return `#${at} = :${at}`;
  };
  const terms = Object.entries(read).map((attribute) =>
    attribute[1] ? term(attribute) : `attribute_not_exists(${term(attribute)})`,
  );
  return {
    term,
    ConditionExpression: terms.join(" AND "),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}

/** Whether what was found has all that was written; undefined is an item that was deleted. */
function isWritten(written?: Attributes, found?: OrderItem) {
  if (!written) return !found;
  return differingAttributes({ ...found, ...written }, { ...found }).length === 0;
}

/** The output of a call that asked for `ReturnConsumedCapacity: "TOTAL"`, of one table. */
type Metered = { ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] | undefined };

const conditional = {
  ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  ReturnConsumedCapacity: "TOTAL",
} as const;

/** A write that has failed with an error, its `cause`, but may have been applied. */
export class UnsettledWriteError extends CommandError {
  constructor(cause: unknown) {
    super(`${errorText(cause)}. The write may have been applied`);
    this.cause = cause;
  }
}

/**
 * Makes calls to tables, at a rate that leaves capacity for the service, and waits while a table
 * throttles.
 */
export class TableCalls {
  readonly #client: DynamoDBClient;
  readonly #millisecondsPerUnit: number;
  readonly #signal: AbortSignal;
  /** When the next call may begin. */
  #next = 0;

  /**
   * @param rate the most capacity units a second.
   * @param signal ends the waits and the scans, but no other call that has begun.
   */
  constructor(
    client: DynamoDBClient,
    rate = Number.POSITIVE_INFINITY,
    signal = new AbortController().signal,
  ) {
    this.#client = client;
    this.#millisecondsPerUnit = 1000 / rate;
    this.#signal = signal;
  }

  /**
   * Makes a call when its turn comes, and again, for about a minute, while the table throttles it.
   *
   * @param units those it is likely to use; later calls wait for those it really used.
   * @throws what the DynamoDB client throws.
   */
  async make<Output extends Metered>(
    send: () => Promise<Output>,
    units: number,
  ): Promise<Output> {
    for (let tries = 0; ; tries++) {
      const now = systemClock.now();
      const turn = Math.max(now, this.#next);
      this.#next = turn + units * this.#millisecondsPerUnit;
      if (turn > now) await systemClock.pause(turn - now, this.#signal);
      try {
        const output = await send();
        const [used] = [output.ConsumedCapacity].flat();
        this.#next +=
          ((used?.CapacityUnits ?? units) - units) * this.#millisecondsPerUnit;
        return output;
      } catch (error) {
        if (tries === throttleRetries || !isThrottled(error)) throw error;
        const longest = Math.min(200 * 2 ** tries, longestWait);
        await systemClock.pause(Math.random() * longest, this.#signal);
      }
    }
  }

  /**
   * Reads the items that have the keys of these, at most a hundred keys, which takes a tenth of the
   * time of reading them one by one. Returns a function that finds the one with the key of another
   * item.
   */
  async read(table: string, key: string, items: OrderItem[], ConsistentRead = false) {
    const keyText = (item: OrderItem) => JSON.stringify(item[key]);
    const found = new Map<string, OrderItem>();
    const keys = new Map(items.map((item) => [keyText(item), keyOf(key, item)]));
    let Keys = [...keys.values()];
    while (Keys.length > 0) {
      const command = new BatchGetItemCommand({
        RequestItems: { [table]: { Keys, ConsistentRead } },
        ReturnConsumedCapacity: "TOTAL",
      });
      const units = Keys.length * (ConsistentRead ? 1 : 0.5);
      const output = await this.make(() => this.#client.send(command), units);
      for (const item of output.Responses?.[table] ?? []) found.set(keyText(item), item);
      // A table that throttles all of them is an error.
      Keys = output.UnprocessedKeys?.[table]?.Keys ?? [];
    }
    return (other: OrderItem) => found.get(keyText(other));
  }

  /**
   * Writes an item unless the table has one with its key. Returns undefined if it is written, else
   * the item that was `found`.
   *
   * @param onDoubt called if it counts as written because a retry has found the same.
   */
  insert(TableName: string, key: string, Item: OrderItem, onDoubt?: () => void) {
    const command = new PutItemCommand({
      TableName,
      Item,
      ConditionExpression: `attribute_not_exists(${key})`,
      ...conditional,
    });
    return this.#write(Item, () => this.#client.send(command), onDoubt);
  }

  /**
   * Changes attributes of an item while some are as they were read, its key among them. Returns
   * undefined if they are changed, else the item that was `found`, if there is one.
   */
  update(TableName: string, key: string, change: Attributes, read: Attributes) {
    const { term, ...condition } = conditionOn(read);
    const clauses = Object.groupBy(Object.entries(change), ([, value]) =>
      value ? "SET" : "REMOVE",
    );
    const command = new UpdateItemCommand({
      TableName,
      Key: keyOf(key, read),
      UpdateExpression: Object.entries(clauses)
        .map(([clause, attributes]) => `${clause} ${attributes.map(term)}`)
        .join(" "),
      ...condition,
      ...conditional,
    });
    return this.#write({ ...read, ...change }, () => this.#client.send(command));
  }

  /**
   * Deletes an item that equals this one. Returns undefined if it is deleted, else the item that was
   * `found`, if there is one.
   */
  async delete(TableName: string, key: string, item: OrderItem) {
    const { term: _, ...condition } = conditionOn(item);
    const command = new DeleteItemCommand({
      TableName,
      Key: keyOf(key, item),
      ReturnValues: "ALL_OLD",
      ...condition,
      ...conditional,
    });
    let deleted = item;
    const conflict = await this.#write(undefined, async () => {
      const output = await this.#client.send(command);
      deleted = output.Attributes ?? item;
      return output;
    });
    if (differingAttributes(deleted, item).length === 0) return conflict;
    // No condition covers attributes that this item lacks: someone has added one just before.
    await this.insert(TableName, key, deleted);
    return { found: deleted };
  }

  /**
   * @param written the attributes by which a retry knows what an earlier attempt has written;
   * undefined if that has deleted the item.
   * @param onDoubt called if it counts as applied only because a retry has found the same.
   * @throws UnsettledWriteError when it may have been applied, else what the DynamoDB client throws.
   */
  async #write(
    written: Attributes | undefined,
    send: () => Promise<Metered>,
    onDoubt?: () => void,
  ) {
    let isUnsettled = false;
    const attempt = () =>
      send().catch((error) => {
        isUnsettled ||= mayBeApplied(error);
        throw error;
      });
    try {
      await this.make(attempt, 1);
      return undefined;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException))
        throw isUnsettled ? new UnsettledWriteError(error) : error;
      const { Item: found } = error;
      // A retry may find what an earlier attempt wrote, its response lost.
      if (!isUnsettled || !isWritten(written, found)) return { found };
      onDoubt?.();
      return undefined;
    }
  }

  /** Reads the items of a table, consistently. */
  async *scan(table: string) {
    for await (const items of this.pages(table)) yield* items;
  }

  /** Reads a table, consistently, page by page. */
  async *pages(TableName: string) {
    let ExclusiveStartKey: OrderItem | undefined;
    do {
      const command = new ScanCommand({
        TableName,
        ConsistentRead: true,
        ReturnConsumedCapacity: "TOTAL",
        ExclusiveStartKey,
      });
      const { Items = [], LastEvaluatedKey } = await this.make<ScanCommandOutput>(
        () => this.#client.send(command, { abortSignal: this.#signal }),
        0,
      );
      yield Items;
      ExclusiveStartKey = LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }
}
