import type { Command } from "commander";
import type { OrderItem } from "../../shared/order.ts";
import { CommandError } from "../terminal/errors.ts";
import { parseTable } from "./arguments.ts";
import type { Outcome, Rules } from "./carry-over-rules.ts";
import { Tally } from "./carry-over-tally.ts";
import { interruption, pacedCalls, type Result, rateOption, run } from "./command.ts";
import type { TableCalls } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

/** Adds `carry-over` to the commands of a table; `rulesFor` gets what `--not-by` names. */
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
    .action(
      (
        options: { from: string; to?: string; dryRun?: boolean; notBy?: string[] },
        command: Command,
      ) =>
        run(command, (target) => {
          const { from, to = target[table], dryRun = false, notBy = [] } = options;
          if (from === to)
            throw new CommandError(`${from} is the table in use: name the new one with --to`);
          const reads = pacedCalls(command, target, "reads");
          const writes = pacedCalls(command, target, "writes");
          return carryOver({
            from,
            to,
            rules: rulesFor(notBy),
            reads,
            writes,
            dryRun,
            signal: interruption(),
          });
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
  /** Only judges. */
  dryRun: boolean;
  signal: AbortSignal;
}

/**
 * Brings forward what the new table lacks, each item by one conditional write, until the first
 * failure or until the signal aborts. It can be repeated: whatever is there already stays as it is.
 *
 * The new table's item is read first: a write that changes nothing costs at least twice as much,
 * and in the units that cancellations need. The read need not be consistent, because the condition
 * is held against what is there in fact.
 *
 * @returns a rejection if orders disagree, or if it did not get to the end.
 */
export async function carryOver(job: CarryOver): Promise<Result> {
  const { from, to, rules, reads, dryRun, signal } = job;
  const tally = new Tally(rules.outcomes);
  const oldItems = async function* (): AsyncGenerator<OrderItem, void, void> {
    for await (const page of reads.scan(from, signal)) yield* page;
  };
  const carry = async (old: OrderItem, stop: AbortSignal): Promise<void> => {
    const { outcomes, current } = await carryItem(job, old, stop);
    tally.add(outcomes, old, current);
  };
  const reason = await workThrough(oldItems(), carry, signal);
  return tally.result(to, dryRun, reason);
}

/** Carries over one item, and returns what came of it and the item that the new table had. */
async function carryItem(
  { from, to, rules, reads, writes, dryRun }: CarryOver,
  old: OrderItem,
  stop: AbortSignal,
): Promise<{ outcomes: Outcome[]; current: OrderItem | undefined }> {
  const { [rules.key]: value } = old;
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
    // Someone else was faster, and what they left decides.
    current = unmet.found;
  }
}
