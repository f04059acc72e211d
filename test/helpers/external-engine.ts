import { DeleteTableCommand, type DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { engineClient } from "../../infra/local/engine/engine.ts";

/**
 * The DynamoDB engine at DYNAMODB_ENDPOINT, or undefined when it isn't set. Only one test file at a time may use it.
 *
 * @throws Error when it has tables: the orders of an `npm start` are neither for tests to change nor what they expect.
 */
export async function useExternalEngine() {
  const endpoint = process.env["DYNAMODB_ENDPOINT"];
  if (!endpoint) return undefined;
  const client = engineClient(endpoint);
  const tables = await listTables(client);
  if (tables.length > 0) throw new Error(`The tests need an empty engine; DYNAMODB_ENDPOINT has ${tables.join(", ")}`);
  return {
    endpoint,
    /** Drops the tables that were created, and leaves the engine running. */
    stop: async () => {
      for (const TableName of await listTables(client)) await client.send(new DeleteTableCommand({ TableName }));
      client.destroy();
    },
  };
}

/** A test file creates far fewer tables than the 100 that one call returns. */
async function listTables(client: DynamoDBClient): Promise<string[]> {
  return (await client.send(new ListTablesCommand())).TableNames ?? [];
}
