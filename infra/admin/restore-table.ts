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

/** A table that is being restored, and what asks AWS about it. */
interface Restore {
  client: Target["client"];
  clock: typeof systemClock;
  source: string;
  /** The new table's name. */
  name: string;
  /** A whole second. */
  time: Date;
  /** The environment's settings for it. */
  throughput: OnDemandThroughput;
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

  const begun = await beginRestore(restore);
  const restored = await untilActive(restore);
  if (begun === "before") requireSameRestore(restore, restored);
  await tagTable(restore, restored, environment);
  await switchOnRecovery(restore);
  await applySettings(restore, restored, setting === "orders" ? environment : undefined);
  return {
    text:
      `Restored ${source} as ${name}. ` +
      `The setting that puts it to use: restoredTables: { ${setting}: "${name}" }`,
    json: { source, name },
    note: "Before that, carry over what has happened since (infra/ON-CALL.md, Restore a table).",
  };
}

function restoredName({ stackName }: Environment, setting: TableSetting, time: Date): string {
  const kind = setting === "orders" ? "Orders" : "ApiKeys";
  return `${stackName}-${kind}-${time.toISOString().replace(/\D/g, "").slice(0, 14)}`;
}

/** Begins the restore, unless a run before has. */
async function beginRestore(restore: Restore): Promise<"now" | "before"> {
  const { client, name, source, throughput, time } = restore;
  const command = new RestoreTableToPointInTimeCommand({
    SourceTableName: source,
    TargetTableName: name,
    RestoreDateTime: time,
    OnDemandThroughputOverride: throughput,
  });
  // Documented for a table of this name that is being created, like that of a run before, or
  // deleted.
  return await repeatWhile(TableInUseException, restore, async () => {
    try {
      await client.send(command);
      return "now";
    } catch (error) {
      if (error instanceof TableAlreadyExistsException) return "before";
      throw error instanceof InvalidRestoreTimeException ? await notRestorable(restore) : error;
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
    throw new CommandError(`${name} is already another table. Restore another second`);
  }
}

async function tagTable({ client }: Restore, restored: TableDescription, environment: Environment) {
  const Tags = Object.entries(tagsOf(environment)).map(([Key, Value]) => ({ Key, Value }));
  await client.send(new TagResourceCommand({ ResourceArn: restored.TableArn, Tags }));
}

/** Switches on point-in-time recovery, for which a new table's backups are not ready at once. */
async function switchOnRecovery(restore: Restore): Promise<void> {
  const recovery = {
    TableName: restore.name,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  };
  await repeatWhile(ContinuousBackupsUnavailableException, restore, () =>
    restore.client.send(new UpdateContinuousBackupsCommand(recovery)),
  );
}

/**
 * Gives the table what it lacks of the settings: a run before may have had others.
 *
 * @param ofOrders the environment, for a table of orders.
 */
async function applySettings(
  restore: Restore,
  restored: TableDescription,
  ofOrders: Environment | undefined,
): Promise<void> {
  const { client, name, throughput } = restore;
  const update = async (change: Partial<UpdateTableCommandInput>): Promise<void> => {
    await client.send(new UpdateTableCommand({ TableName: name, ...change }));
    await untilActive(restore);
  };
  if (!isDeepStrictEqual(restored.OnDemandThroughput, throughput)) {
    await update({ OnDemandThroughput: throughput });
  }
  if (!restored.DeletionProtectionEnabled) await update({ DeletionProtectionEnabled: true });
  if (ofOrders?.ordersStream && !restored.StreamSpecification?.StreamEnabled) {
    await update({
      StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
    });
  }
  const { writerAccounts = [] } = ofOrders ?? {};
  if (writerAccounts.length > 0) {
    const Policy = JSON.stringify(writersPolicy(writerAccounts));
    await client.send(new PutResourcePolicyCommand({ ResourceArn: restored.TableArn, Policy }));
  }
}

/**
 * Repeats an attempt every twenty seconds until it finds something. An error of this class means
 * not yet.
 */
async function repeatWhile<Found>(
  notYet: new (...args: never[]) => Error,
  { clock }: Restore,
  attempt: () => Promise<Found | undefined>,
): Promise<Found> {
  for (;;) {
    try {
      const found = await attempt();
      if (found) return found;
    } catch (error) {
      if (!(error instanceof notYet)) throw error;
    }
    await clock.pause(20_000);
  }
}

/** Says which seconds of a table can be restored: up to about five minutes ago. */
async function notRestorable({ client, source }: Restore): Promise<CommandError> {
  const command = new DescribeContinuousBackupsCommand({ TableName: source });
  const { ContinuousBackupsDescription: backups } = await client.send(command);
  const { EarliestRestorableDateTime: first, LatestRestorableDateTime: last } =
    backups?.PointInTimeRecoveryDescription ?? {};
  const seconds = `from ${first?.toISOString()} to ${last?.toISOString()}`;
  return new CommandError(`${source} can be restored to any second ${seconds}`);
}
