import { type Command, InvalidArgumentError } from "commander";
import { isDateTime } from "../../shared/order.ts";
import { type Result, run } from "./command.ts";
import { type Restore, restoreTable } from "./restore-table.ts";
import type { Target } from "./target.ts";

/** Adds `restore` to the commands of a table. */
export function addRestore(commands: Command, table: Restore["table"]): void {
  commands
    .command("restore")
    .description("restore the table in use, as it was, into a new table; can be interrupted and run again")
    .requiredOption("--time <date-time>", "to the second, like 2026-11-20T08:00:00Z", parseSecond)
    .option("--as <name>", "the new table's name (default: ends with the time)")
    .action((options: Omit<Restore, "table">, command: Command) =>
      run(command, (target) => {
        process.stderr.write("Restoring takes minutes to hours. If it is interrupted, run the command again.\n");
        return restore(target, { table, ...options });
      }),
    );
}

/** Restores a table, and says how to put it to use. */
export async function restore(target: Target, { table, ...options }: Restore, pollEvery?: number): Promise<Result> {
  const { source, name, streamArn } = await restoreTable(target, { table, ...options }, pollEvery);
  const setting = `{ ${table}: "${name}"${streamArn === undefined ? "" : `, ordersStreamArn: "${streamArn}"`} }`;
  return {
    text: `Restored ${source} as ${name}. The setting that puts it to use: restoredTables: ${setting}`,
    json: { source, name, streamArn: streamArn ?? null },
    note: "Before that, carry over what has happened since (infra/README.md, Restore a table).",
  };
}

function parseSecond(text: string): Date {
  if (!isDateTime(text) || Date.parse(text) % 1000 !== 0) {
    throw new InvalidArgumentError("Not a date-time to the second, with Z or an offset.");
  }
  return new Date(text);
}
