import { isDeepStrictEqual } from "node:util";
import {
  ContinuousBackupsUnavailableException,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  InvalidRestoreTimeException,
  PutResourcePolicyCommand,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  TableAlreadyExistsException,
  type TableDescription,
  TableInUseException,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  type UpdateTableCommandInput,
} from "@aws-sdk/client-dynamodb";
import type { Command } from "commander";
import { systemClock } from "../../shared/clock.ts";
import { tagsOf } from "../environments.ts";
import { writersPolicy } from "../stack/writers-policy.ts";
import { CommandError } from "../terminal/errors.ts";
import { parseSecond, parseTable } from "./arguments.ts";
import { type Result, run } from "./command.ts";
import type { Target } from "./target.ts";

type TableSetting = "orders" | "apiKeys";

/** Adds `restore` to the commands of a table. */
export function addRestore(commands: Command, setting: TableSetting): void {
  commands
    .command("restore")
    .description("restore a table, as it was, into a new table; can be interrupted and run again")
    .requiredOption(
      "--time <date-time>",
      "the second to restore, like 2026-11-20T08:00:00Z",
      parseSecond,
    )
    .option("--table <name>", "restore this table (default: the one in use)", parseTable)
    .action(({ time, table }: { time: Date; table?: string }, command: Command) =>
      run(command, (target) => restoreTable(target, setting, time, table)),
    );
}

/**
 * Restores a table, as it was at a time, into a new table, and gives that what a restore leaves
 * behind, as the settings have it: the stack then adopts it as it is. Its name ends with the time.
 * It can be repeated until it is through.
 *
 * @param time a whole second.
 * @param source the table to restore.
 * @throws CommandError when there are no backups of that second, or another table has the name;
 * what the DynamoDB client throws.
 */
export async function restoreTable(
  target: Target,
  setting: TableSetting,
  time: Date,
  source = target[`${setting}Table`],
  clock = systemClock,
): Promise<Result> {
  const { client, environment } = target;
  const { keepData, ordersStream, stackName, tableThroughput, writerAccounts = [] } = environment;
  if (!keepData)
    throw new CommandError(`${environment.name} keeps no backups (keepData in environments.ts)`);
  process.stderr.write(
    "Restoring takes minutes to hours. If it is interrupted, run the command again.\n",
  );
  const kind = setting === "orders" ? "Orders" : "ApiKeys";
  const name = `${stackName}-${kind}-${time.toISOString().replace(/\D/g, "").slice(0, 14)}`;

  /**
   * Repeats an attempt every twenty seconds until it finds something. An error of this class means
   * not yet.
   */
  const until = async <Found>(
    notYet: new (...args: never[]) => Error,
    attempt: () => Promise<Found | undefined>,
  ): Promise<Found> => {
    for (;;) {
      try {
        const found = await attempt();
        if (found) return found;
      } catch (error) {
        if (!(error instanceof notYet)) throw error;
      }
      await clock.pause(20_000);
    }
  };
  const active = (): Promise<TableDescription> =>
    until(ResourceNotFoundException, async () => {
      const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
      return Table?.TableStatus === "ACTIVE" ? Table : undefined;
    });
  const update = async (change: Partial<UpdateTableCommandInput>): Promise<void> => {
    await client.send(new UpdateTableCommand({ TableName: name, ...change }));
    await active();
  };

  const { reads, writes } = tableThroughput;
  const OnDemandThroughput = { MaxReadRequestUnits: reads, MaxWriteRequestUnits: writes };
  const restore = new RestoreTableToPointInTimeCommand({
    SourceTableName: source,
    TargetTableName: name,
    RestoreDateTime: time,
    OnDemandThroughputOverride: OnDemandThroughput,
  });
  // Documented for a table of this name that is being created, like that of a run before, or
  // deleted.
  const begun = await until(TableInUseException, async () => {
    try {
      await client.send(restore);
      return "now";
    } catch (error) {
      if (error instanceof TableAlreadyExistsException) return "before";
      throw error instanceof InvalidRestoreTimeException ? await outsideOf(client, source) : error;
    }
  });
  const restored = await active();
  const { SourceTableArn, RestoreDateTime } = restored.RestoreSummary ?? {};
  const isIt =
    SourceTableArn?.endsWith(`/${source}`) && RestoreDateTime?.getTime() === time.getTime();
  if (begun === "before" && !isIt)
    throw new CommandError(`${name} is already another table. Restore another second`);

  const ResourceArn = restored.TableArn;
  const Tags = Object.entries(tagsOf(environment)).map(([Key, Value]) => ({ Key, Value }));
  await client.send(new TagResourceCommand({ ResourceArn, Tags }));
  const recovery = {
    TableName: name,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  };
  // A new table's backups are not ready for it at once.
  await until(ContinuousBackupsUnavailableException, () =>
    client.send(new UpdateContinuousBackupsCommand(recovery)),
  );
  // A run before may have had other settings.
  if (!isDeepStrictEqual(restored.OnDemandThroughput, OnDemandThroughput))
    await update({ OnDemandThroughput });
  if (!restored.DeletionProtectionEnabled) await update({ DeletionProtectionEnabled: true });
  if (setting === "orders" && ordersStream && !restored.StreamSpecification?.StreamEnabled) {
    await update({
      StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
    });
  }
  if (setting === "orders" && writerAccounts.length > 0) {
    const Policy = JSON.stringify(writersPolicy(writerAccounts));
    await client.send(new PutResourcePolicyCommand({ ResourceArn, Policy }));
  }
  return {
    text: `Restored ${source} as ${name}. The setting that puts it to use: restoredTables: { ${setting}: "${name}" }`,
    json: { source, name },
    note: "Before that, carry over what has happened since (infra/ON-CALL.md, Restore a table).",
  };
}

/** Says which seconds of a table can be restored: up to about five minutes ago. */
async function outsideOf(client: Target["client"], table: string): Promise<CommandError> {
  const asked = await client.send(new DescribeContinuousBackupsCommand({ TableName: table }));
  const { PointInTimeRecoveryDescription: recovery } = asked.ContinuousBackupsDescription ?? {};
  const [first, last] = [recovery?.EarliestRestorableDateTime, recovery?.LatestRestorableDateTime];
  return new CommandError(
    `${table} can be restored to any second from ${first?.toISOString()} to ${last?.toISOString()}`,
  );
}
