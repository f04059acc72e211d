import { isDeepStrictEqual } from "node:util";
import {
  BatchGetItemCommand,
  type BatchGetItemOutput,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { Item, Outcome, Rules } from "./carry-over-rules.ts";
import { CommandError } from "./errors.ts";
import type { TableCalls, WriteResult } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

/** Two tables of one kind, and how to carry over from one to the other. */
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
}

/** The most items that one BatchGetItem reads. */
const batchSize = 100;
const conditional = { ReturnValuesOnConditionCheckFailure: "ALL_OLD", ReturnConsumedCapacity: "TOTAL" } as const;

/**
 * Brings forward what the new table lacks, each item by one conditional write, until the first failure or until the
 * signal aborts. It can be repeated: whatever is there already stays as it is.
 *
 * The new table is read first: a write that changes nothing costs at least twice as much, and in the units that
 * cancellations need. The read need not be consistent, because the condition is held against what is there in fact.
 *
 * @param onDone called for each item of the old table, with what the new one held.
 * @returns what failed, if anything did.
 */
export function carryOver(
  work: CarryOver,
  onDone: (outcomes: Outcome[], old: Item, here: Item | undefined) => void,
): Promise<unknown> {
  const carry = async (old: Item, here: Item | undefined, stop: AbortSignal): Promise<void> => {
    const { outcomes, set } = work.rules.judge(old, here);
    if (set !== undefined && !work.dryRun) {
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
    for (const old of batch) if (!stop.aborted) await carry(old, here.get(JSON.stringify(keyOf(work, old))), stop);
  };
  return workThrough(batches(work), carryBatch, work.signal);
}

async function* batches({ client, from, reads, signal }: CarryOver): AsyncGenerator<Item[], void, void> {
  for await (const page of reads.scan(client, from, signal)) {
    for (let at = 0; at < page.length; at += batchSize) yield page.slice(at, at + batchSize);
  }
}

/** Reads the items of the new table that have the same keys, each under the JSON of its key. */
async function readSame(work: CarryOver, batch: Item[], stop: AbortSignal): Promise<Map<string, Item>> {
  const { client, to, reads } = work;
  const found = new Map<string, Item>();
  for (let Keys = batch.map((item) => keyOf(work, item)); Keys.length > 0; ) {
    const command = new BatchGetItemCommand({ RequestItems: { [to]: { Keys } }, ReturnConsumedCapacity: "TOTAL" });
    const send = (): Promise<BatchGetItemOutput> => client.send(command);
    const { Responses, UnprocessedKeys } = await reads.make("BatchGetItem", send, Keys.length / 2, stop);
    for (const item of Responses?.[to] ?? []) found.set(JSON.stringify(keyOf(work, item)), item);
    Keys = UnprocessedKeys?.[to]?.Keys ?? [];
  }
  return found;
}

function put({ client, to, rules, writes }: CarryOver, item: Item, stop: AbortSignal): Promise<WriteResult> {
  const ConditionExpression = `attribute_not_exists(${rules.key})`;
  const command = new PutItemCommand({ TableName: to, Item: item, ConditionExpression, ...conditional });
  return writes.write("PutItem", () => client.send(command), stop);
}

function update(work: CarryOver, old: Item, set: Item, stop: AbortSignal): Promise<WriteResult> {
  const { client, to, rules, writes } = work;
  const attributes = Object.entries(set);
  const command = new UpdateItemCommand({
    TableName: to,
    Key: keyOf(work, old),
    UpdateExpression: `SET ${attributes.map((_, at) => `#${at} = :${at}`)}`,
    ConditionExpression: rules.condition,
    ExpressionAttributeNames: {
      ...rules.conditionNames,
      ...Object.fromEntries(attributes.map(([name], at) => [`#${at}`, name])),
    },
    ExpressionAttributeValues: {
      ...rules.conditionValues,
      ...Object.fromEntries(attributes.map(([, value], at) => [`:${at}`, value])),
    },
    ...conditional,
  });
  return writes.write("UpdateItem", () => client.send(command), stop);
}

function keyOf({ from, rules: { key } }: CarryOver, { [key]: value }: Item): Item {
  if (value === undefined) throw new CommandError(`${from} has an item without ${key}: it is another kind of table`);
  return { [key]: value };
}

function holds(item: Item | undefined, attributes: Item): boolean {
  return Object.entries(attributes).every(([name, value]) => isDeepStrictEqual(item?.[name], value));
}
