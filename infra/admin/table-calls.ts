import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  type GetItemCommandInput,
  PutItemCommand,
  ScanCommand,
  type ScanCommandOutput,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { systemClock } from "../../shared/clock.ts";
import { isThrottled } from "../../shared/dynamodb.ts";
import type { OrderItem } from "../../shared/order.ts";
import { sameAttribute } from "../orders-file/attribute-json.ts";

/**
 * The longest wait before each retry of a throttled call, in milliseconds. With full jitter they
 * take a minute or so.
 */
const throttleWaits = [200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 30_000, 30_000];

/** Attributes by their names; undefined are those that an item lacks, or is to lose. */
export type Attributes = Record<string, AttributeValue | undefined>;

/** A partition key as text. */
export function keyText(value: AttributeValue | undefined): string {
  return value?.N ?? value?.S ?? "";
}

/** The most items that one call reads by their keys. */
const keysPerCall = 100;

/** Divides items among calls that read them by their keys. */
export async function* hundreds<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
): AsyncGenerator<Item[], void, void> {
  let batch: Item[] = [];
  for await (const item of items) {
    if (batch.push(item) < keysPerCall) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** A write that was not applied, and the item that fails its condition; none if it is missing. */
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
   * @param units those it is likely to use; later calls wait for those it really used.
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

  /** Reads an item. Returns undefined if the table has none with this key. */
  async get(input: GetItemCommandInput, signal?: AbortSignal): Promise<OrderItem | undefined> {
    const command = new GetItemCommand({ ...input, ReturnConsumedCapacity: "TOTAL" });
    const units = input.ConsistentRead ? 1 : 0.5;
    const { Item } = await this.make(() => this.#client.send(command), units, signal);
    return Item;
  }

  /**
   * Reads the items with these keys, at most a hundred, which takes a tenth of the time of reading
   * them one by one. Returns them by the text of their key.
   */
  async getMany(
    table: string,
    key: string,
    keys: AttributeValue[],
    signal?: AbortSignal,
    ConsistentRead = false,
  ): Promise<Map<string, OrderItem>> {
    const found = new Map<string, OrderItem>();
    let Keys: OrderItem[] = keys.map((value) => ({ [key]: value }));
    while (Keys.length > 0) {
      const command = new BatchGetItemCommand({
        RequestItems: { [table]: { Keys, ConsistentRead } },
        ReturnConsumedCapacity: "TOTAL",
      });
      const send = async () => {
        const { ConsumedCapacity, ...output } = await this.#client.send(command);
        return { ...output, ConsumedCapacity: ConsumedCapacity?.[0] };
      };
      const units = Keys.length * (ConsistentRead ? 1 : 0.5);
      const { Responses, UnprocessedKeys } = await this.make(send, units, signal);
      for (const item of Responses?.[table] ?? []) found.set(keyText(item[key]), item);
      const left = UnprocessedKeys?.[table]?.Keys ?? [];
      // The table throttles, though it read some of them.
      if (left.length === Keys.length) await this.#clock.pause(1000, signal);
      Keys = left;
    }
    return found;
  }

  /** Writes an item unless the table has one with its key. Returns undefined if it is written. */
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
   * Changes attributes of an item while some are as they were read. Returns undefined if they are
   * changed.
   */
  update(
    TableName: string,
    Key: OrderItem,
    change: Attributes,
    read: Attributes,
    signal?: AbortSignal,
  ): Promise<Unmet | undefined> {
    const written = { ...read, ...change };
    const names = Object.keys(written);
    const index = (name: string): number => names.indexOf(name);
    const values: OrderItem = {};
    const terms = Object.entries(read).map(([name, value]) => {
      if (value === undefined) return `attribute_not_exists(#${index(name)})`;
      values[`:was${index(name)}`] = value;
      return `#${index(name)} = :was${index(name)}`;
    });
    const set: string[] = [];
    const remove: string[] = [];
    for (const [name, value] of Object.entries(change)) {
      if (value === undefined) {
        remove.push(`#${index(name)}`);
      } else {
        values[`:is${index(name)}`] = value;
        set.push(`#${index(name)} = :is${index(name)}`);
      }
    }
    const clauses = { SET: set, REMOVE: remove };
    const expression = Object.entries(clauses).filter(([, actions]) => actions.length > 0);
    const command = new UpdateItemCommand({
      TableName,
      Key,
      ConditionExpression: terms.join(" AND "),
      UpdateExpression: expression
        .map(([verb, actions]) => `${verb} ${actions.join(", ")}`)
        .join(" "),
      ExpressionAttributeNames: Object.fromEntries(names.map((name, at) => [`#${at}`, name])),
      ExpressionAttributeValues: values,
      ...conditional,
    });
    return this.#write(written, () => this.#client.send(command), signal);
  }

  /** @param written the attributes by which a retry knows what an earlier attempt has written. */
  async #write(
    written: Attributes,
    send: () => Promise<Metered>,
    signal?: AbortSignal,
  ): Promise<Unmet | undefined> {
    let attempts = 0;
    const attempt = (): Promise<Metered> => {
      attempts++;
      return send();
    };
    try {
      await this.make(attempt, 1, signal);
      return undefined;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const { Item: found, $metadata } = error;
      const isRetry = attempts > 1 || ($metadata.attempts ?? 1) > 1;
      const names = Object.keys(written);
      // A retry may find what an earlier attempt wrote, its response lost.
      const isOurs = isRetry && names.every((name) => sameAttribute(written[name], found?.[name]));
      return isOurs ? undefined : { found };
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

  /** Reads a table as `scan` does, an item at a time. */
  async *items(table: string, signal?: AbortSignal): AsyncGenerator<OrderItem, void, void> {
    for await (const page of this.scan(table, signal)) yield* page;
  }
}
