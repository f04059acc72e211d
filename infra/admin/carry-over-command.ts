import type { Command } from "commander";
import { parseText } from "./arguments.ts";
import { type CarryOver, carryOver } from "./carry-over.ts";
import type { Outcome, Rules } from "./carry-over-rules.ts";
import { interruption, pacedCalls, type Result, rateOption, run } from "./command.ts";
import { CommandError } from "./errors.ts";
import { columns } from "./terminal.ts";

/** Adds `carry-over` to the commands of a table; `rulesFor` gets what `--not-by` names. */
export function addCarryOver(
  commands: Command,
  table: "ordersTable" | "apiKeysTable",
  rulesFor: (notBy: string[]) => Rules,
): Command {
  return commands
    .command("carry-over")
    .description("after a restore: bring forward from the old table what the new one lacks, and overwrite nothing")
    .requiredOption("--from <table>", "the old table", parseText)
    .option("--to <table>", "the new table (default: the one in use)", parseText)
    .option("--dry-run", "only say what would be carried over")
    .addOption(rateOption())
    .action((options: { from: string; to?: string; dryRun?: boolean; notBy?: string[] }, command: Command) =>
      run(command, (target) => {
        const { from, to = target[table], dryRun = false, notBy = [] } = options;
        if (from === to) throw new CommandError(`${from} is the table in use: name the new one with --to`);
        const [reads, writes] = [pacedCalls(command, target, "reads"), pacedCalls(command, target, "writes")];
        return report({ from, to, rules: rulesFor(notBy), reads, writes, dryRun, signal: interruption() });
      }),
    );
}

/** Carries over, and reports it. The result is a rejection if orders disagree, or if it did not get to the end. */
export async function report(work: CarryOver): Promise<Result> {
  const { to, rules, dryRun } = work;
  const counts = new Map<Outcome, number>(rules.outcomes.map((outcome) => [outcome, 0]));
  const cancelledBy = new Map<string, number>();
  const disagreements: { id: bigint; here: string | undefined; there: string | undefined }[] = [];
  const reason = await carryOver(work, (outcomes, old, here) => {
    for (const outcome of outcomes) countOne(counts, outcome);
    if (outcomes.includes("cancelled")) countOne(cancelledBy, old["cancelledBy"]?.S ?? "no key");
    if (outcomes.includes("disagreeing")) {
      disagreements.push({ id: BigInt(old["id"]?.N ?? 0), here: here?.["status"]?.S, there: old["status"]?.S });
    }
  });
  const complete = reason === undefined;
  const words = [...counts].map(([outcome, count]) => `${count} ${outcome.replace(/[A-Z]/g, " $&").toLowerCase()}`);
  const byKey = [...cancelledBy].map(([keyId, orders]) => [keyId, String(orders)]);
  const text = [
    `${dryRun ? "Would carry over" : "Carried over"} to ${to}: ${words.join(", ")}`,
    ...disagreements.map(({ id, here, there }) => `Order ${id} is ${here}, but ${there} in the old table`),
    ...(byKey.length > 0 ? [columns([["CANCELLED BY", "ORDERS"], ...byKey])] : []),
  ];
  const ofOrders = counts.has("cancelled") && { cancelledBy: Object.fromEntries(cancelledBy), disagreements };
  return {
    text: text.join("\n"),
    json: { to, dryRun, complete, ...Object.fromEntries(counts), ...ofOrders },
    ...(!complete && { note: `${reason}. The rest is not carried over yet.` }),
    rejected: !complete || disagreements.length > 0,
  };
}

function countOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
