import { isDeepStrictEqual } from "node:util";
import type { Resource } from "@aws-cdk/cloudformation-diff";
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
} from "@aws-sdk/client-dynamodb";
import type { Environment } from "../environments.ts";
import { CommandError } from "../terminal/errors.ts";
import type { Template } from "./template.ts";

/** The compared facts of a table, by the names that the error gives them. */
type TableFacts = Record<string, unknown>;

/**
 * Checks the tables that a deployment would adopt: those that the next template names and the
 * deployed one lacks. CloudFormation checks nothing: it makes an empty table for a misspelt name,
 * and never compares an existing table with the template. The caller needs
 * `dynamodb:DescribeTable` and `dynamodb:DescribeContinuousBackups`.
 *
 * @throws CommandError naming the first table that is missing or differs from the template. Also
 * throws what the SDK throws.
 */
export async function requireAdoptedTables(
  { account, name }: Environment,
  deployed: Template | undefined,
  next: Template,
): Promise<void> {
  const client = new DynamoDBClient(account ? { region: account.region } : {});
  for (const [id, { Type, Properties = {} }] of Object.entries(next.Resources)) {
    const { TableName: table } = Properties;
    if (Type !== "AWS::DynamoDB::Table" || deployed?.Resources[id]) continue;
    if (typeof table !== "string") continue;
    const actual = await readFacts(client, table);
    const differing = Object.entries(expectedFacts(Properties))
      .filter(([fact, expected]) => !isDeepStrictEqual(actual[fact], expected))
      .map(([fact]) => fact);
    if (differing.length === 0) continue;
    throw new CommandError(
      `Table ${table} differs from the settings in its ${differing.join(", ")}: ` +
        "repeat the command that made it " +
        `(npm run admin -- --env ${name} orders restore, or keys restore)`,
    );
  }
}

/**
 * A table's facts in the template. Protection, recovery and stream count only where the template
 * switches them on.
 */
function expectedFacts(properties: NonNullable<Resource["Properties"]>): TableFacts {
  const {
    AttributeDefinitions,
    DeletionProtectionEnabled,
    KeySchema,
    OnDemandThroughput,
    PointInTimeRecoverySpecification: recovery,
    StreamSpecification: stream,
  } = properties;
  return {
    status: "ACTIVE",
    key: { AttributeDefinitions, KeySchema },
    throughput: OnDemandThroughput,
    ...(DeletionProtectionEnabled && { "deletion protection": true }),
    ...(recovery?.PointInTimeRecoveryEnabled && { recovery: "ENABLED" }),
    ...(stream && { stream: stream.StreamViewType }),
  };
}

/** The same facts in DynamoDB. */
async function readFacts(client: DynamoDBClient, TableName: string): Promise<TableFacts> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    const { ContinuousBackupsDescription: backups } = await client.send(
      new DescribeContinuousBackupsCommand({ TableName }),
    );
    return {
      status: Table?.TableStatus,
      key: { AttributeDefinitions: Table?.AttributeDefinitions, KeySchema: Table?.KeySchema },
      throughput: Table?.OnDemandThroughput,
      "deletion protection": Table?.DeletionProtectionEnabled,
      recovery: backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus,
      stream: Table?.StreamSpecification?.StreamViewType,
    };
  } catch (error) {
    if (!(error instanceof Error && error.name === "ResourceNotFoundException")) throw error;
    throw new CommandError(`There is no table ${TableName}: the stack would make an empty one`);
  }
}
