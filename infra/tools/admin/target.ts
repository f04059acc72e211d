import type { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import {
  DescribeTableCommand,
  type DynamoDBClient,
  DynamoDBServiceException,
  ResourceNotFoundException,
} from "@aws-sdk/client-dynamodb";
import { createClient, LostCallError } from "../../../shared/dynamodb.ts";
import { type Environment, environments } from "../../environments.ts";
import { engineClient } from "../running-stacks/engine-client.ts";
import { readStackFiles } from "../running-stacks/stack-files.ts";
import { clientOptions, limits, requireAccount } from "../terminal/caller.ts";
import { CommandError, errorText } from "../terminal/errors.ts";

/** The tables a command works on, and the settings of their environment. */
export interface Target {
  /** Where they are, for people: an AWS account and region, or one of several local stacks. */
  description?: string;
  environment: Environment;
  ordersTable: string;
  apiKeysTable: string;
  client: DynamoDBClient;
}

/**
 * Finds the tables of a deployed environment in the outputs of its stack, with the operator's own
 * AWS credentials.
 *
 * @throws CommandError when the stack does not exist, lacks an output or is in another account than
 * the environment's, and what the SDK throws when a call fails.
 */
export async function findDeployedStack(environment: Environment): Promise<Target> {
  // This client takes a while to load, and a local stack doesn't need it.
  const { CloudFormationClient, DescribeStacksCommand } = await import(
    "@aws-sdk/client-cloudformation"
  );
  const { name, stackName } = environment;
  const cloudFormation = new CloudFormationClient(clientOptions(environment));
  const { credentials } = cloudFormation.config;
  // First, because the region may be missing with the profile.
  await credentials();
  const region = await cloudFormation.config.region();
  const described = cloudFormation.send(
    new DescribeStacksCommand({ StackName: stackName }),
  );
  const { Stacks } = await described.catch(async (error: unknown) => {
    await rejectForeignEndpoint(cloudFormation, stackName, error);
    if (!/^ValidationError: .*does not exist/.test(String(error))) throw error;
    throw new CommandError(
      `No stack ${stackName} in region ${region} of this AWS account. ` +
        "Deploy it, or choose another region or account",
    );
  });
  const { StackId, StackStatus, Outputs } = Stacks?.[0] ?? {};
  // arn:aws:cloudformation:REGION:ACCOUNT:stack/NAME/ID
  const account = String(StackId?.split(":")[4]);
  requireAccount(environment, account);
  const output = (key: string) => {
    const value = Outputs?.find(({ OutputKey }) => OutputKey === key)?.OutputValue;
    if (value) return value;
    throw new CommandError(
      `Stack ${stackName} (${StackStatus}) has no output ${key}. Was it deployed completely?`,
    );
  };
  return {
    description: `${name}: AWS account ${account}, region ${region}`,
    environment,
    ordersTable: output("OrdersTableName"),
    apiKeysTable: output("ApiKeysTableName"),
    // The same credentials and region, so that the description holds for every later call.
    client: nameMissingTables(createClient(limits, { credentials, region })),
  };
}

/** Says of a call that has failed that it didn't go to AWS, if that is so. */
async function rejectForeignEndpoint(
  { config }: CloudFormationClient,
  stackName: string,
  error: unknown,
) {
  const endpoint = await config.serviceConfiguredEndpoint?.();
  if (!endpoint) return;
  const { host, hostname } = new URL(endpoint);
  if (/\.(amazonaws\.(com|com\.cn|eu)|api\.aws)$/.test(hostname)) return;
  throw new CommandError(
    `No stack ${stackName} at ${host || endpoint}, which is not AWS (${errorText(error)}). ` +
      "Unset AWS_ENDPOINT_URL, or endpoint_url in your profile",
  );
}

/**
 * Finds the tables of the running `petstore start`; of several, the one that started last.
 *
 * @throws CommandError when none is running, or its table is gone, and what the SDK throws when it
 * can't be asked.
 */
export async function findLocalStack(): Promise<Target> {
  const stacks = readStackFiles();
  for (const { baseUrl, dynamodbEndpoint, tables } of stacks) {
    const client = nameMissingTables(engineClient(dynamodbEndpoint));
    try {
      await client.send(new DescribeTableCommand({ TableName: tables.orders }));
    } catch (error) {
      client.destroy();
      if (error instanceof ResourceNotFoundException)
        throw new CommandError(
          `The local stack at ${baseUrl} has no table ${tables.orders}. Restart it`,
        );
      // A stack that is killed leaves its entry behind, and its port to another program.
      if (!isElsewhere(error)) throw error;
      continue;
    }
    return {
      ...(stacks.length > 1 && { description: `local: ${baseUrl}` }),
      // The local stack is the staging stack.
      environment: environments.staging,
      ordersTable: tables.orders,
      apiKeysTable: tables.apiKeys,
      client,
    };
  }
  throw new CommandError(
    "No local stack is running. Start one with infra/petstore start",
  );
}

/** Whether nothing listens at an address, or another program, which does not have the table. */
function isElsewhere(error: unknown) {
  return (
    error instanceof DynamoDBServiceException ||
    (error instanceof LostCallError && /\((ECONNREFUSED|HTTP \d+)\)$/.test(error.message))
  );
}

/** Makes a client's errors name the table that does not exist; DynamoDB's own mostly don't. */
function nameMissingTables(client: DynamoDBClient) {
  client.middlewareStack.add(
    (next) => (args) =>
      next(args).catch((error: unknown) => {
        if (error instanceof ResourceNotFoundException && "TableName" in args.input)
          error.message = `There is no table ${args.input.TableName}`;
        throw error;
      }),
  );
  return client;
}
