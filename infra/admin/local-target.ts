import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { environments } from "../environments.ts";
import { engineClient } from "../local/engine/client.ts";
import { readStackFile } from "../local/stack-file.ts";
import { Refusal } from "./refusal.ts";
import type { Target } from "./target.ts";

/**
 * The tables of the running `npm start`, found through the file that it leaves.
 *
 * @throws Refusal when none is running.
 */
export async function findLocalStack(): Promise<Target> {
  const stack = await readStackFile();
  if (!stack) throw new Refusal("No local stack is running here: start one with npm start");
  const { baseUrl, dynamodbEndpoint, tables } = stack;
  const client = engineClient(dynamodbEndpoint);
  try {
    await client.send(new DescribeTableCommand({ TableName: tables.orders }));
  } catch {
    // Killed, it could not take its file away.
    throw new Refusal(`The local stack at ${baseUrl} does not answer any more: start one with npm start`);
  }
  return {
    description: `local: ${baseUrl}`,
    // The local stack is the staging stack.
    environment: environments.staging,
    ordersTable: tables.orders,
    apiKeysTable: tables.apiKeys,
    client,
  };
}
