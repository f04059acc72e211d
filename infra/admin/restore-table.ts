import { setTimeout } from "node:timers/promises";
import {
  ContinuousBackupsUnavailableException,
  DescribeTableCommand,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  TableAlreadyExistsException,
  type TableDescription,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
} from "@aws-sdk/client-dynamodb";
import type { Command } from "commander";
import { parseSecond } from "./arguments.ts";
import { type Result, run } from "./command.ts";
import { CommandError } from "./errors.ts";
import type { Target } from "./target.ts";

type TableSetting = "orders" | "apiKeys";

/** Adds `restore` to the commands of a table. */
export function addRestore(commands: Command, table: TableSetting): void {
  commands
    .command("restore")
    .description("restore the table in use, as it was, into a new table; can be interrupted and run again")
    .requiredOption("--time <date-time>", "the second to restore, like 2026-11-20T08:00:00Z", parseSecond)
    .action(({ time }: { time: Date }, command: Command) =>
      run(command, (target) => {
        process.stderr.write("Restoring takes minutes to hours. If it is interrupted, run the command again.\n");
        return restoreTable(target, table, time);
      }),
    );
}

/**
 * Restores the table in use, as it was at a time, into a new table, and gives that what a restore leaves behind: tags,
 * recovery, deletion protection and the stream. Its name ends with the time. It can be repeated until it is through.
 *
 * @param time a whole second.
 * @param pollEvery milliseconds between two looks at what takes its time.
 * @throws CommandError when there are no backups, or another table has the name; what the DynamoDB client throws.
 */
export async function restoreTable(
  { client, environment, ordersTable, apiKeysTable }: Target,
  table: TableSetting,
  time: Date,
  pollEvery = 20_000,
): Promise<Result> {
  const { keepData, ordersStream, stackName, tableThroughput } = environment;
  if (!keepData) throw new CommandError(`${environment.name} keeps no backups (keepData in environments.ts)`);
  const [source, kind] = table === "orders" ? [ordersTable, "Orders"] : [apiKeysTable, "ApiKeys"];
  const name = `${stackName}-${kind}-${time.toISOString().replace(/\D/g, "").slice(0, 14)}`;

  const until = async <Found>(look: () => Promise<Found | undefined>): Promise<Found> => {
    for (;;) {
      const found = await look();
      if (found) return found;
      await setTimeout(pollEvery);
    }
  };
  const active = (): Promise<TableDescription> =>
    until(async () => {
      const describe = new DescribeTableCommand({ TableName: name });
      const described = await client.send(describe).catch(allow(ResourceNotFoundException));
      return described?.Table?.TableStatus === "ACTIVE" ? described.Table : undefined;
    });

  const { reads: MaxReadRequestUnits, writes: MaxWriteRequestUnits } = tableThroughput;
  const restore = new RestoreTableToPointInTimeCommand({
    SourceTableName: source,
    TargetTableName: name,
    RestoreDateTime: time,
    OnDemandThroughputOverride: { MaxReadRequestUnits, MaxWriteRequestUnits },
  });
  const begun = await client.send(restore).catch(allow(TableAlreadyExistsException));
  const { TableArn, RestoreSummary, DeletionProtectionEnabled, StreamSpecification } = await active();
  const { SourceTableArn, RestoreDateTime } = RestoreSummary ?? {};
  if (!begun && !(SourceTableArn?.endsWith(`/${source}`) && RestoreDateTime?.getTime() === time.getTime())) {
    throw new CommandError(`${name} is already another table. Restore another second`);
  }
  const service = { Key: "service", Value: "pet-store-orders" };
  const Tags = [service, { Key: "environment", Value: environment.name }];
  await client.send(new TagResourceCommand({ ResourceArn: TableArn, Tags }));
  const recovery = { TableName: name, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } };
  await until(() =>
    // A new table's backups are not ready for it at once.
    client.send(new UpdateContinuousBackupsCommand(recovery)).catch(allow(ContinuousBackupsUnavailableException)),
  );
  if (!DeletionProtectionEnabled) {
    await client.send(new UpdateTableCommand({ TableName: name, DeletionProtectionEnabled: true }));
  }
  if (table === "orders" && ordersStream && !StreamSpecification?.StreamEnabled) {
    await active();
    const stream = { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" } as const;
    await client.send(new UpdateTableCommand({ TableName: name, StreamSpecification: stream }));
  }
  const { LatestStreamArn: stream } = await active();
  const setting = `{ ${table}: "${name}"${stream === undefined ? "" : `, ordersStreamArn: "${stream}"`} }`;
  return {
    text: `Restored ${source} as ${name}. The setting that puts it to use: restoredTables: ${setting}`,
    json: { source, name, streamArn: stream ?? null },
    note: "Before that, carry over what has happened since (infra/README.md, Restore a table).",
  };
}

/** For `catch`: resolves with undefined instead of this error. */
function allow(expected: new (...args: never[]) => Error): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof expected)) throw error;
  };
}
