import type { OrderItem as Item } from "../../shared/order.ts";
import type { Outcome, Rules } from "./carry-over-rules.ts";
import { CommandError } from "./errors.ts";
import type { TableCalls } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

/** Two tables of one kind, and how to carry over from one to the other. */
export interface CarryOver {
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
 * @returns why it did not get to the end, if it did not.
 */
export function carryOver(
  { from, to, rules, reads, writes, dryRun, signal }: CarryOver,
  onDone: (outcomes: Outcome[], old: Item, here: Item | undefined) => void,
): Promise<string | undefined> {
  async function* oldItems(): AsyncGenerator<Item, void, void> {
    for await (const page of reads.scan(from, signal)) yield* page;
  }
  const carry = async (old: Item, stop: AbortSignal): Promise<void> => {
    const { [rules.key]: value } = old;
    if (!value) throw new CommandError(`${from} has an item without ${rules.key}: it is another kind of table`);
    const Key = { [rules.key]: value };
    let here = await reads.get({ TableName: to, Key }, stop);
    for (;;) {
      const { outcomes, set } = rules.judge(old, here);
      if (set === undefined || dryRun) return onDone(outcomes, old, here);
      const unmet = await (here
        ? writes.update(to, Key, set, rules.condition, stop)
        : writes.insert(to, rules.key, set, stop));
      if (!unmet) return onDone(outcomes, old, here);
      // Someone else was faster, and what they left decides.
      here = unmet.found;
    }
  };
  return workThrough(oldItems(), carry, signal);
}
