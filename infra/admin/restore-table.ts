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
import { CommandError } from "./errors.ts";
import type { Target } from "./target.ts";

export interface Restore {
  table: "orders" | "apiKeys";
  /** A whole second. */
  time: Date;
  /** The new table's name; by default it ends with the time. */
  as?: string | undefined;
}

/**
 * Restores the table in use, as it was at a time, into a new table, and gives that what a restore leaves
 * behind: tags, recovery, deletion protection and the stream. It can be repeated until it is through.
 *
 * @param pollEvery milliseconds between two looks at what takes its time.
 * @returns the names of the old and the new table, and the ARN of the new one's stream, if there is to be one.
 * @throws CommandError when there are no backups, or the name does not fit; what the DynamoDB client throws.
 */
export async function restoreTable(
  { client, environment, ordersTable, apiKeysTable }: Target,
  { table, time, as }: Restore,
  pollEvery = 20_000,
): Promise<{ source: string; name: string; streamArn: string | undefined }> {
  const { keepData, ordersStream, stackName, tableThroughput } = environment;
  if (!keepData) throw new CommandError(`${environment.name} keeps no backups (keepData in environments.ts)`);
  const [source, prefix] =
    table === "orders" ? [ordersTable, `${stackName}-Orders-`] : [apiKeysTable, `${stackName}-ApiKeys-`];
  const TableName = as ?? prefix + time.toISOString().replace(/\D/g, "").slice(0, 14);
  if (!TableName.startsWith(prefix)) throw new CommandError(`The name must begin with ${prefix}, or no policy fits it`);

  const until = async <Found>(look: () => Promise<Found | undefined>): Promise<Found> => {
    for (;;) {
      const found = await look();
      if (found) return found;
      await setTimeout(pollEvery);
    }
  };
  const active = (): Promise<TableDescription> =>
    until(async () => {
      const described = client.send(new DescribeTableCommand({ TableName })).catch(allow(ResourceNotFoundException));
      const table = (await described)?.Table;
      return table?.TableStatus === "ACTIVE" ? table : undefined;
    });

  const { reads: MaxReadRequestUnits, writes: MaxWriteRequestUnits } = tableThroughput;
  const command = new RestoreTableToPointInTimeCommand({
    SourceTableName: source,
    TargetTableName: TableName,
    RestoreDateTime: time,
    OnDemandThroughputOverride: { MaxReadRequestUnits, MaxWriteRequestUnits },
  });
  const begun = await client.send(command).catch(allow(TableAlreadyExistsException));
  const { TableArn, RestoreSummary, DeletionProtectionEnabled, StreamSpecification } = await active();
  const { SourceTableArn, RestoreDateTime } = RestoreSummary ?? {};
  if (!begun && !(SourceTableArn?.endsWith(`/${source}`) && RestoreDateTime?.getTime() === time.getTime())) {
    throw new CommandError(`${TableName} is already another table. Choose another name with --as`);
  }
  const Tags = [
    { Key: "service", Value: "pet-store-orders" },
    { Key: "environment", Value: environment.name },
  ];
  await client.send(new TagResourceCommand({ ResourceArn: TableArn, Tags }));
  const recovery = { TableName, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } };
  await until(() =>
    // A new table's backups are not ready for it at once.
    client.send(new UpdateContinuousBackupsCommand(recovery)).catch(allow(ContinuousBackupsUnavailableException)),
  );
  if (!DeletionProtectionEnabled) {
    await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true }));
  }
  if (table === "orders" && ordersStream && !StreamSpecification?.StreamEnabled) {
    await active();
    const stream = { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" } as const;
    await client.send(new UpdateTableCommand({ TableName, StreamSpecification: stream }));
  }
  return { source, name: TableName, streamArn: (await active()).LatestStreamArn };
}

/** For `catch`: resolves with undefined instead of this error. */
function allow(expected: new (...args: never[]) => Error): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof expected)) throw error;
  };
}
