import type { Output } from "@aws-sdk/client-cloudformation";
import {
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
} from "@aws-sdk/client-dynamodb";
import { CommandError } from "../terminal/errors.ts";

/**
 * Checks that the tables exist that a deployed stack's outputs name. CloudFormation may make an empty one in the
 * place of one that is gone, which then can't be restored under its name. The caller needs
 * `dynamodb:DescribeTable`.
 *
 * @throws CommandError that names a missing table, and what the SDK throws when a call fails.
 */
export async function requireTables(region: string, outputs: Output[] = []): Promise<void> {
  const client = new DynamoDBClient({ region });
  for (const { OutputKey, OutputValue: TableName } of outputs) {
    if (!OutputKey?.endsWith("TableName")) continue;
    const status = await client.send(new DescribeTableCommand({ TableName })).then(
      ({ Table }) => Table?.TableStatus,
      (error: unknown) => {
        if (error instanceof ResourceNotFoundException) return "missing";
        throw error;
      },
    );
    if (status === "ACTIVE" || status === "UPDATING") continue;
    const chapter = "infra/ON-CALL.md, A deleted table";
    throw new CommandError(
      `Table ${TableName} is ${status}: restore it first (${chapter})`,
    );
  }
}
