import { isDeepStrictEqual } from "node:util";
import { type DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
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

/**
 * Brings forward what the new table lacks, each item by one conditional write, until the first failure or until the
 * signal aborts. It can be repeated: whatever is there already stays as it is.
 *
 * The new table's item is read first: a write that changes nothing costs at least twice as much, and in the units that
 * cancellations need. The read need not be consistent, because the condition is held against what is there in fact.
 *
 * @param onDone called for each item of the old table, with what the new one held.
 * @returns what failed, if anything did.
 */
export function carryOver(
  work: CarryOver,
  onDone: (outcomes: Outcome[], old: Item, here: Item | undefined) => void,
): Promise<unknown> {
  const { client, from, to, rules, reads, dryRun, signal } = work;
  async function* oldItems(): AsyncGenerator<Item, void, void> {
    for await (const page of reads.scan(client, from, signal)) yield* page;
  }
  const carry = async (old: Item, stop: AbortSignal): Promise<void> => {
    const { [rules.key]: value } = old;
    if (!value) throw new CommandError(`${from} has an item without ${rules.key}: it is another kind of table`);
    const Key = { [rules.key]: value };
    const command = new GetItemCommand({ TableName: to, Key, ReturnConsumedCapacity: "TOTAL" });
    let { Item: here } = await reads.make("GetItem", () => client.send(command), 0.5, stop);
    for (;;) {
      const { outcomes, set } = rules.judge(old, here);
      if (set === undefined || dryRun) return onDone(outcomes, old, here);
      const result = await (here ? update(work, Key, set, stop) : put(work, set, stop));
      // A later attempt may find what an earlier one wrote, its response lost.
      if (result.applied || (result.retried && holds(result.found, set))) return onDone(outcomes, old, here);
      // Someone else was faster, and what they left decides.
      here = result.found;
    }
  };
  return workThrough(oldItems(), carry, signal);
}

const conditional = { ReturnValuesOnConditionCheckFailure: "ALL_OLD", ReturnConsumedCapacity: "TOTAL" } as const;

function put({ client, to, rules, writes }: CarryOver, item: Item, stop: AbortSignal): Promise<WriteResult> {
  const ConditionExpression = `attribute_not_exists(${rules.key})`;
  const command = new PutItemCommand({ TableName: to, Item: item, ConditionExpression, ...conditional });
  return writes.write("PutItem", () => client.send(command), stop);
}

function update(work: CarryOver, Key: Item, set: Item, stop: AbortSignal): Promise<WriteResult> {
  const { client, to, rules, writes } = work;
  const placeholders = <Value>(sign: string, values: Value[]): Record<string, Value> =>
    Object.fromEntries(values.map((value, at) => [`${sign}${at}`, value]));
  const command = new UpdateItemCommand({
    TableName: to,
    Key,
    UpdateExpression: `SET ${Object.keys(set).map((_, at) => `#${at} = :${at}`)}`,
    ConditionExpression: rules.condition,
    ExpressionAttributeNames: { ...rules.conditionNames, ...placeholders("#", Object.keys(set)) },
    ExpressionAttributeValues: { ...rules.conditionValues, ...placeholders(":", Object.values(set)) },
    ...conditional,
  });
  return writes.write("UpdateItem", () => client.send(command), stop);
}

function holds(item: Item | undefined, attributes: Item): boolean {
  return Object.entries(attributes).every(([name, value]) => isDeepStrictEqual(item?.[name], value));
}
