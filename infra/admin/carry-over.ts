import { isDeepStrictEqual } from "node:util";
import {
  type AttributeValue,
  BatchGetItemCommand,
  type BatchGetItemOutput,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
  type UpdateItemInput,
} from "@aws-sdk/client-dynamodb";
import { CommandError } from "./errors.ts";
import type { TableCalls, WriteResult } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

export type Item = Record<string, AttributeValue>;

/** What is brought forward of an item, or why nothing is. `changed`: to a status that the service does not know. */
export type Outcome =
  | "placed"
  | "shipped"
  | "cancelled"
  | "changed"
  | "issued"
  | "revoked"
  | "alreadySo"
  | "leftOut"
  | "disagreeing";

/** What to do about an item of the old table, given what the new one holds under the same key. */
export interface Verdict {
  outcomes: Outcome[];
  /** The attributes to set: of a missing item, all. */
  set?: Item;
}

/** What is carried over from one kind of table. */
export interface Rules {
  /** The partition key. */
  key: string;
  /** Those that `judge` can find. */
  outcomes: Outcome[];
  judge(old: Item, here: Item | undefined): Verdict;
  /** Holds while an item may be given what `judge` wants set, and never for a missing one. */
  condition: Pick<UpdateItemInput, "ConditionExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues">;
}

export interface CarryOver {
  client: DynamoDBClient;
  from: string;
  to: string;
  rules: Rules;
  reads: TableCalls;
  writes: TableCalls;
  /** Only judges. */
  dryRun: boolean;
  signal: AbortSignal;
  /** Called for each item of the old table when it is done, with what the new one held. */
  onDone: (outcomes: Outcome[], old: Item, here: Item | undefined) => void;
}

/** The most items that one BatchGetItem reads. */
const batchSize = 100;

/**
 * Brings forward what the new table lacks, each item by one conditional write, until the first failure or until the
 * signal aborts. It can be repeated: whatever is there already stays as it is.
 *
 * The new table is read first: a write that changes nothing costs at least twice as much, and in the units that
 * cancellations need. The read need not be consistent, because the condition is held against what is there in fact.
 *
 * @returns what failed, if anything did.
 */
export function carryOver(work: CarryOver): Promise<unknown> {
  const { rules, dryRun, onDone } = work;
  const carry = async (old: Item, here: Item | undefined, stop: AbortSignal): Promise<void> => {
    const { outcomes, set } = rules.judge(old, here);
    if (set !== undefined && !dryRun) {
      const result = await (here ? update(work, old, set, stop) : put(work, set, stop));
      // A later attempt may find what an earlier one wrote, its response lost.
      const ours = result.applied || (result.retried && holds(result.found, set));
      // Otherwise someone else was faster, and what they left decides.
      if (!ours) return carry(old, result.found, stop);
    }
    onDone(outcomes, old, here);
  };
  const carryBatch = async (batch: Item[], stop: AbortSignal): Promise<void> => {
    const here = await readSame(work, batch, stop);
    for (const old of batch) if (!stop.aborted) await carry(old, here.get(keyText(work, old)), stop);
  };
  return workThrough(batches(work), carryBatch, work.signal);
}

async function* batches({ client, from, reads }: CarryOver): AsyncGenerator<Item[], void, void> {
  for await (const page of reads.scan(client, from)) {
    for (let at = 0; at < page.length; at += batchSize) yield page.slice(at, at + batchSize);
  }
}

/** Reads the items of the new table with the same keys as these of the old one, each under the text of its key. */
async function readSame(work: CarryOver, batch: Item[], stop: AbortSignal): Promise<Map<string, Item>> {
  const { client, to, reads } = work;
  const found = new Map<string, Item>();
  for (let Keys = batch.map((item) => keyOf(work, item)); Keys.length > 0; ) {
    const command = new BatchGetItemCommand({ RequestItems: { [to]: { Keys } }, ReturnConsumedCapacity: "TOTAL" });
    const send = (): Promise<BatchGetItemOutput> => client.send(command);
    const { Responses, UnprocessedKeys } = await reads.make("BatchGetItem", send, Keys.length / 2, stop);
    for (const item of Responses?.[to] ?? []) found.set(keyText(work, item), item);
    Keys = UnprocessedKeys?.[to]?.Keys ?? [];
  }
  return found;
}

const asked = { ReturnValuesOnConditionCheckFailure: "ALL_OLD", ReturnConsumedCapacity: "TOTAL" } as const;

function put({ client, to, rules, writes }: CarryOver, item: Item, stop: AbortSignal): Promise<WriteResult> {
  const condition = `attribute_not_exists(${rules.key})`;
  const command = new PutItemCommand({ TableName: to, Item: item, ConditionExpression: condition, ...asked });
  return writes.write("PutItem", () => client.send(command), stop);
}

function update(work: CarryOver, old: Item, set: Item, stop: AbortSignal): Promise<WriteResult> {
  const { client, to, rules, writes } = work;
  const { ConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues } = rules.condition;
  const attributes = Object.entries(set);
  const command = new UpdateItemCommand({
    TableName: to,
    Key: keyOf(work, old),
    UpdateExpression: `SET ${attributes.map((_, at) => `#set${at} = :set${at}`).join(", ")}`,
    ConditionExpression,
    ExpressionAttributeNames: {
      ...Object.fromEntries(attributes.map(([name], at) => [`#set${at}`, name])),
      ...ExpressionAttributeNames,
    },
    ExpressionAttributeValues: {
      ...Object.fromEntries(attributes.map(([, value], at) => [`:set${at}`, value])),
      ...ExpressionAttributeValues,
    },
    ...asked,
  });
  return writes.write("UpdateItem", () => client.send(command), stop);
}

function keyOf({ from, rules: { key } }: CarryOver, { [key]: value }: Item): Item {
  if (value === undefined) throw new CommandError(`${from} has an item without ${key}: it is another kind of table`);
  return { [key]: value };
}

function keyText(work: CarryOver, item: Item): string {
  return JSON.stringify(keyOf(work, item));
}

function holds(item: Item | undefined, attributes: Item): boolean {
  return Object.entries(attributes).every(([name, value]) => isDeepStrictEqual(item?.[name], value));
}
