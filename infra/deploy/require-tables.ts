import {
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
} from "@aws-sdk/client-dynamodb";
import { CommandError } from "../terminal/errors.ts";
import type { Place } from "./template.ts";

/**
 * Checks that the tables of a deployed stack exist. CloudFormation may make an empty one in the
 * place of one that is gone, which then can't be restored under its name. The caller needs
 * `dynamodb:DescribeTable`.
 *
 * @throws CommandError that names a missing table, and what the SDK throws when a call fails.
 */
export async function requireTables(tables: string[], { region }: Place): Promise<void> {
  const client = new DynamoDBClient({ region });
  for (const table of tables) {
    const status = await statusOf(client, table);
    if (status !== "ACTIVE" && status !== "UPDATING") {
      throw new CommandError(
        `Table ${table} is ${status}: restore it first (infra/ON-CALL.md, A deleted table)`,
      );
    }
  }
}

async function statusOf(client: DynamoDBClient, TableName: string): Promise<string> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    return Table?.TableStatus ?? "of unknown status";
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return "missing";
    throw error;
  }
}
