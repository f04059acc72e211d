import { isDeepStrictEqual } from "node:util";
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
} from "@aws-sdk/client-dynamodb";
import type { Environment } from "../environments.ts";
import { CommandError } from "../terminal/errors.ts";
import type { Template } from "./template.ts";

/** The facts of a table that are compared, by the words that name them to people. */
type TableFacts = Record<string, unknown>;

/**
 * Checks the tables that a deployment is to adopt by their names, with `dynamodb:DescribeTable` and
 * `DescribeContinuousBackups`. CloudFormation does not: for a misspelt name it would make an empty
 * table, and later it compares templates with templates, never with the table.
 *
 * @throws CommandError naming the first table that is missing or not as the template says, and what
 * the SDK throws when it can't ask.
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
    const found = await readFacts(client, table);
    const wrong = Object.entries(expectedFacts(Properties))
      .filter(([fact, expected]) => !isDeepStrictEqual(found[fact], expected))
      .map(([fact]) => fact);
    if (wrong.length === 0) continue;
    throw new CommandError(
      `Table ${table} differs from the settings in its ${wrong.join(", ")}: repeat the command ` +
        `that made it (npm run admin -- --env ${name} orders restore, or keys restore)`,
    );
  }
}

/** The facts of a table as the template has them. */
function expectedFacts(properties: TableFacts): TableFacts {
  const {
    AttributeDefinitions,
    DeletionProtectionEnabled = false,
    KeySchema,
    OnDemandThroughput,
    PointInTimeRecoverySpecification: recovery,
    StreamSpecification: stream,
  } = properties;
  return {
    status: "ACTIVE",
    key: { AttributeDefinitions, KeySchema },
    throughput: OnDemandThroughput,
    ...(DeletionProtectionEnabled === true && { "deletion protection": true }),
    ...(recovery !== undefined && { recovery: "ENABLED" }),
    ...(stream !== undefined && { stream: "NEW_AND_OLD_IMAGES" }),
  };
}

/** The same facts as DynamoDB has them. */
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
