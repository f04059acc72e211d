import { DeleteTableCommand, type DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { engineClient } from "../../infra/local/engine/engine.ts";

export interface ExternalEngine {
  endpoint: string;
  /** Drops the tables created since, and leaves the engine running. */
  stop(): Promise<void>;
}

/** The DynamoDB engine at DYNAMODB_ENDPOINT, or undefined when it isn't set. Only one test file at a time may use it. */
export async function useExternalEngine(): Promise<ExternalEngine | undefined> {
  const endpoint = process.env["DYNAMODB_ENDPOINT"];
  if (!endpoint) return undefined;
  const client = engineClient(endpoint);
  const tables = new Set(await listTables(client));
  return {
    endpoint,
    stop: async () => {
      const created = (await listTables(client)).filter((name) => !tables.has(name));
      for (const TableName of created) await client.send(new DeleteTableCommand({ TableName }));
      client.destroy();
    },
  };
}

/** A test file creates far fewer tables than the 100 that one call returns. */
async function listTables(client: DynamoDBClient): Promise<string[]> {
  return (await client.send(new ListTablesCommand())).TableNames ?? [];
}
