import { DeleteTableCommand, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { engineClient } from "../../infra/local/engine/engine.ts";

/**
 * The DynamoDB engine at DYNAMODB_ENDPOINT, if set, for one test file at a time.
 *
 * @throws Error when it has tables: they may be those of an `npm start`.
 */
export async function useExternalEngine() {
  const endpoint = process.env["DYNAMODB_ENDPOINT"];
  if (!endpoint) return undefined;
  const client = engineClient(endpoint);
  // A test file creates far fewer tables than the 100 that one call returns.
  const tableNames = async () =>
    (await client.send(new ListTablesCommand())).TableNames ?? [];
  const present = await tableNames();
  if (present.length > 0)
    throw new Error(
      `The tests need an empty engine; DYNAMODB_ENDPOINT has ${present.join(", ")}`,
    );
  return {
    endpoint,
    stop: async () => {
      for (const TableName of await tableNames())
        await client.send(new DeleteTableCommand({ TableName }));
      client.destroy();
    },
  };
}
