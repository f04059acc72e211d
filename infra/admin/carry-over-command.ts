import type { Command } from "commander";
import { type CarryOver, carryOver, type Outcome, type Rules } from "./carry-over.ts";
import { interruption, type Result, run } from "./command.ts";
import { CommandError, errorLine } from "./errors.ts";
import { pacedCalls, rateOption } from "./rate.ts";
import { columns } from "./terminal.ts";

interface Options {
  from: string;
  to?: string;
  dryRun?: boolean;
  notBy?: string[];
}

/** Adds `carry-over` to the commands of a table; `rulesFor` gets what `--not-by` names. */
export function addCarryOver(
  commands: Command,
  table: "ordersTable" | "apiKeysTable",
  rulesFor: (notBy: string[]) => Rules,
): Command {
  return commands
    .command("carry-over")
    .description("after a restore: bring forward from the old table what the new one lacks, and overwrite nothing")
    .requiredOption("--from <table>", "the old table")
    .option("--to <table>", "the new table (default: the one in use)")
    .option("--dry-run", "only say what would be carried over")
    .addOption(rateOption())
    .action(({ from, to: named, dryRun = false, notBy = [] }: Options, command: Command) =>
      run(command, (target) => {
        const to = named ?? target[table];
        if (from === to) throw new CommandError(`${from} is the table in use: name the new one with --to`);
        const [reads, writes] = [pacedCalls(command, target, "reads"), pacedCalls(command, target, "writes")];
        const rules = rulesFor(notBy);
        return report({ client: target.client, from, to, rules, reads, writes, dryRun, signal: interruption() });
      }),
    );
}

const words: Partial<Record<Outcome, string>> = {
  changed: "otherwise changed",
  alreadySo: "already so",
  leftOut: "left out",
};

/** Carries over, and reports it. The result is a rejection if orders disagree, or if it did not get to the end. */
export async function report(work: Omit<CarryOver, "onDone">): Promise<Result> {
  const { to, rules, dryRun, signal } = work;
  const counts = Object.fromEntries(rules.outcomes.map((outcome) => [outcome, 0]));
  const cancelledBy: Record<string, number> = {};
  const disagreements: { id: bigint; here: string | undefined; there: string | undefined }[] = [];
  const onDone: CarryOver["onDone"] = (outcomes, old, here) => {
    for (const outcome of outcomes) {
      counts[outcome] = (counts[outcome] ?? 0) + 1;
      if (outcome === "cancelled") {
        const keyId = old["cancelledBy"]?.S ?? "no key";
        cancelledBy[keyId] = (cancelledBy[keyId] ?? 0) + 1;
      }
      if (outcome === "disagreeing") {
        disagreements.push({ id: BigInt(old["id"]?.N ?? 0), here: here?.["status"]?.S, there: old["status"]?.S });
      }
    }
  };
  const failure = await carryOver({ ...work, onDone });
  const complete = failure === undefined && !signal.aborted;
  const counted = rules.outcomes.map((outcome) => `${counts[outcome]} ${words[outcome] ?? outcome}`).join(", ");
  const text = [
    `${dryRun ? "Would carry over" : "Carried over"} to ${to}: ${counted}`,
    ...disagreements.map(({ id, here, there }) => `Order ${id} is ${here}, but ${there} in the old table`),
  ];
  const keys = Object.entries(cancelledBy).map(([keyId, orders]) => [keyId, String(orders)]);
  if (keys.length > 0) text.push(columns([["CANCELLED BY", "ORDERS"], ...keys]));
  const ofOrders = rules.outcomes.includes("cancelled") && { cancelledBy, disagreements };
  const why = failure === undefined ? "Interrupted" : errorLine(failure);
  return {
    text: text.join("\n"),
    json: { to, dryRun, complete, ...counts, ...ofOrders },
    ...(!complete && { note: `${why}. The rest is not carried over yet.` }),
    rejected: !complete || disagreements.length > 0,
  };
}
