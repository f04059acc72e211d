import type { Command } from "commander";
import type { OrderItem } from "../../shared/order.ts";
import { CommandError } from "../terminal/errors.ts";
import { parseTable } from "./arguments.ts";
import type { Outcome, Rules } from "./carry-over-rules.ts";
import { Tally } from "./carry-over-tally.ts";
import { interruption, pacedCalls, type Result, rateOption, run } from "./command.ts";
import type { TableCalls } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

type CarryOverOptions = { from: string; to?: string; dryRun?: boolean; notBy?: string[] };

/** Adds `carry-over` to the commands of a table; `rulesFor` gets the key ids of `--not-by`. */
export function addCarryOver(
  commands: Command,
  table: "ordersTable" | "apiKeysTable",
  rulesFor: (notBy: string[]) => Rules,
): Command {
  return commands
    .command("carry-over")
    .description(
      "after a restore: bring forward from the old table what the new one lacks, " +
        "and overwrite nothing",
    )
    .requiredOption("--from <table>", "the old table", parseTable)
    .option("--to <table>", "the new table (default: the one in use)", parseTable)
    .option("--dry-run", "only say what would be carried over")
    .addOption(rateOption())
    .action((options: CarryOverOptions, command: Command) =>
      run(command, (target) => {
        const { from, to = target[table], dryRun = false, notBy = [] } = options;
        if (from === to)
          throw new CommandError(`${from} is the table in use: name the new one with --to`);
        const rules = rulesFor(notBy);
        const reads = pacedCalls(command, target, "reads");
        const writes = pacedCalls(command, target, "writes");
        return carryOver({ from, to, rules, reads, writes, dryRun, signal: interruption() });
      }),
    );
}

/** Two tables of one kind, and how to carry over from one to the other. */
export interface CarryOver {
  from: string;
  to: string;
  rules: Rules;
  reads: TableCalls;
  writes: TableCalls;
  /** Writes nothing. */
  dryRun: boolean;
  signal: AbortSignal;
}

/**
 * Carries over what the new table lacks, each item in one conditional write, until the first
 * failure or until the signal aborts. Safe to run again: an item that is up to date stays as it is.
 *
 * The new table's item is read first: a write that changes nothing costs at least twice as much,
 * and in the units that cancellations need. The read need not be consistent, because the write's
 * condition is.
 *
 * @returns a rejection if orders disagree or it stopped early.
 */
export async function carryOver(job: CarryOver): Promise<Result> {
  const { from, to, rules, reads, dryRun, signal } = job;
  const tally = new Tally(rules.outcomes);
  const carry = async (old: OrderItem, stop: AbortSignal): Promise<void> => {
    const { outcomes, current } = await carryItem(job, old, stop);
    tally.add(outcomes, old, current);
  };
  const reason = await workThrough(reads.items(from, signal), carry, signal);
  return tally.result(to, dryRun, reason);
}

/** Carries over one item. Returns the outcomes and the item that the new table had before. */
async function carryItem(
  { from, to, rules, reads, writes, dryRun }: CarryOver,
  old: OrderItem,
  stop: AbortSignal,
): Promise<{ outcomes: Outcome[]; current: OrderItem | undefined }> {
  const value = old[rules.key];
  if (!value) {
    throw new CommandError(`${from} has an item without ${rules.key}: it is another kind of table`);
  }
  const Key = { [rules.key]: value };
  let current = await reads.get({ TableName: to, Key }, stop);
  for (;;) {
    const { outcomes, set } = rules.judge(old, current);
    if (set === undefined || dryRun) return { outcomes, current };
    const unmet = await (current
      ? writes.update(to, Key, set, rules.condition, stop)
      : writes.insert(to, rules.key, set, stop));
    if (!unmet) return { outcomes, current };
    // Someone else wrote first, so judge again by the item they left.
    current = unmet.found;
  }
}
