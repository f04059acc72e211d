import { isDeepStrictEqual } from "node:util";
import {
  ContinuousBackupsUnavailableException,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  InvalidRestoreTimeException,
  type OnDemandThroughput,
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
import { type Environment, tagsOf } from "../environments.ts";
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

/** A restore in progress, with the client and the clock that it uses. */
interface Restore {
  client: Target["client"];
  clock: typeof systemClock;
  source: string;
  /** The new table's name. */
  name: string;
  /** A whole second. */
  time: Date;
  /** The new table's limits. */
  throughput: OnDemandThroughput;
}

/**
 * Restores a table, as it was at a time, into a new table whose name ends with the time. Then sets
 * what a restore doesn't copy (tags, backups, protection, stream, policy), because the stack adopts
 * the table as it is. Safe to run again after an interruption.
 *
 * @param time a whole second.
 * @param source the table to restore; by default the one in use.
 * @throws CommandError when there are no backups of that second, or another table has the name;
 * what the DynamoDB client throws.
 */
export async function restoreTable(
  target: Target,
  setting: TableSetting,
  time: Date,
  source = setting === "orders" ? target.ordersTable : target.apiKeysTable,
  clock = systemClock,
): Promise<Result> {
  const { client, environment } = target;
  if (!environment.keepData) {
    throw new CommandError(`${environment.name} keeps no backups (keepData in environments.ts)`);
  }
  process.stderr.write(
    "Restoring takes minutes to hours. If it is interrupted, run the command again.\n",
  );
  const name = restoredName(environment, setting, time);
  const { reads, writes } = environment.tableThroughput;
  const throughput = { MaxReadRequestUnits: reads, MaxWriteRequestUnits: writes };
  const restore: Restore = { client, clock, source, name, time, throughput };

  const isNew = await beginRestore(restore);
  const restored = await untilActive(restore);
  if (!isNew) requireSameRestore(restore, restored);
  await tagTable(restore, restored, environment);
  await switchOnRecovery(restore);
  await applySettings(restore, restored);
  if (setting === "orders") await applyOrdersSettings(restore, restored, environment);
  return {
    text: `Restored ${source} as ${name}. To use it, set restoredTables: { ${setting}: "${name}" }`,
    json: { source, name },
    note: "Before that, carry over what has happened since (infra/ON-CALL.md, Restore a table).",
  };
}

function restoredName({ stackName }: Environment, setting: TableSetting, time: Date): string {
  const kind = setting === "orders" ? "Orders" : "ApiKeys";
  return `${stackName}-${kind}-${time.toISOString().replace(/\D/g, "").slice(0, 14)}`;
}

/** Begins the restore. Returns false if the new table exists, perhaps from an earlier run. */
async function beginRestore(restore: Restore): Promise<boolean> {
  const { client, name, source, throughput, time } = restore;
  const command = new RestoreTableToPointInTimeCommand({
    SourceTableName: source,
    TargetTableName: name,
    RestoreDateTime: time,
    OnDemandThroughputOverride: throughput,
  });
  // Thrown while a table of this name is being created, perhaps by an earlier run, or deleted.
  return await repeatWhile(TableInUseException, restore, async () => {
    try {
      await client.send(command);
      return true;
    } catch (error) {
      if (error instanceof TableAlreadyExistsException) return false;
      if (error instanceof InvalidRestoreTimeException) throw await outsideBackups(restore);
      throw error;
    }
  });
}

function untilActive(restore: Restore): Promise<TableDescription> {
  const { client, name } = restore;
  return repeatWhile(ResourceNotFoundException, restore, async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    return Table?.TableStatus === "ACTIVE" ? Table : undefined;
  });
}

function requireSameRestore({ name, source, time }: Restore, { RestoreSummary }: TableDescription) {
  const { SourceTableArn, RestoreDateTime } = RestoreSummary ?? {};
  if (!SourceTableArn?.endsWith(`/${source}`) || RestoreDateTime?.getTime() !== time.getTime()) {
    throw new CommandError(`${name} exists and is not this restore. Choose another second`);
  }
}

async function tagTable({ client }: Restore, restored: TableDescription, environment: Environment) {
  const Tags = Object.entries(tagsOf(environment)).map(([Key, Value]) => ({ Key, Value }));
  await client.send(new TagResourceCommand({ ResourceArn: restored.TableArn, Tags }));
}

/** Switches on point-in-time recovery, which fails until the new table's backups are ready. */
async function switchOnRecovery(restore: Restore): Promise<void> {
  const recovery = {
    TableName: restore.name,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  };
  await repeatWhile(ContinuousBackupsUnavailableException, restore, () =>
    restore.client.send(new UpdateContinuousBackupsCommand(recovery)),
  );
}

/** Applies the settings that the table lacks; an earlier run may have applied others. */
async function applySettings(restore: Restore, restored: TableDescription): Promise<void> {
  const { throughput } = restore;
  if (!isDeepStrictEqual(restored.OnDemandThroughput, throughput)) {
    await updateTable(restore, { OnDemandThroughput: throughput });
  }
  if (!restored.DeletionProtectionEnabled) {
    await updateTable(restore, { DeletionProtectionEnabled: true });
  }
}

async function applyOrdersSettings(
  restore: Restore,
  restored: TableDescription,
  { ordersStream, writerAccounts = [] }: Environment,
): Promise<void> {
  if (ordersStream && !restored.StreamSpecification?.StreamEnabled) {
    const stream = { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" } as const;
    await updateTable(restore, { StreamSpecification: stream });
  }
  if (writerAccounts.length > 0) {
    const Policy = JSON.stringify(writersPolicy(writerAccounts));
    const command = new PutResourcePolicyCommand({ ResourceArn: restored.TableArn, Policy });
    await restore.client.send(command);
  }
}

async function updateTable(
  restore: Restore,
  change: Partial<UpdateTableCommandInput>,
): Promise<void> {
  await restore.client.send(new UpdateTableCommand({ TableName: restore.name, ...change }));
  await untilActive(restore);
}

/**
 * Repeats an attempt every twenty seconds until it returns a value. Errors of the class `notYet`
 * are retried.
 */
async function repeatWhile<Found>(
  notYet: new (...args: never[]) => Error,
  { clock }: Restore,
  attempt: () => Promise<Found | undefined>,
): Promise<Found> {
  for (;;) {
    try {
      const found = await attempt();
      if (found !== undefined) return found;
    } catch (error) {
      if (!(error instanceof notYet)) throw error;
    }
    await clock.pause(20_000);
  }
}

/** The error for a second without a backup. Backups end about five minutes ago. */
async function outsideBackups({ client, source }: Restore): Promise<CommandError> {
  const command = new DescribeContinuousBackupsCommand({ TableName: source });
  const { ContinuousBackupsDescription: backups } = await client.send(command);
  const { EarliestRestorableDateTime: first, LatestRestorableDateTime: last } =
    backups?.PointInTimeRecoveryDescription ?? {};
  const seconds = `from ${first?.toISOString()} to ${last?.toISOString()}`;
  return new CommandError(`${source} can be restored to any second ${seconds}`);
}
