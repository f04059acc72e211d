import { CloudFormationClient, DescribeStacksCommand, type Stack } from "@aws-sdk/client-cloudformation";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Environment } from "../environments.ts";
import { Refusal } from "./refusal.ts";
import { callLimits, type Target } from "./target.ts";

/**
 * The tables of a deployed environment, found through the outputs of its stack with the caller's own AWS credentials.
 *
 * @throws Refusal when the stack is not there or is not whole, and what the SDK throws when it can't be asked.
 */
export async function findDeployedStack(environment: Environment): Promise<Target> {
  const { stackName } = environment;
  const cloudFormation = new CloudFormationClient(callLimits);
  const stack = await describe(cloudFormation, stackName);
  // arn:aws:cloudformation:REGION:ACCOUNT:stack/NAME/ID: the stack itself says whose it is.
  const [, , , region, account] = stack.StackId?.split(":") ?? [];
  if (!region || !account) throw new Refusal(`CloudFormation did not say which account ${stackName} is in`);
  return {
    description: `${environment.name}: AWS account ${account}, region ${region}`,
    environment,
    ordersTable: output(stack, stackName, "OrdersTableName"),
    apiKeysTable: output(stack, stackName, "ApiKeysTableName"),
    // The same credentials and region: what was said about the account then holds for every later call.
    client: new DynamoDBClient({ ...callLimits, credentials: cloudFormation.config.credentials, region }),
  };
}

async function describe(cloudFormation: CloudFormationClient, stackName: string): Promise<Stack> {
  try {
    const { Stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName: stackName }));
    if (Stacks?.[0]) return Stacks[0];
  } catch (error) {
    if (!(error instanceof Error && error.name === "ValidationError" && /does not exist/.test(error.message))) {
      throw error;
    }
  }
  const region = await cloudFormation.config.region();
  throw new Refusal(
    `There is no stack ${stackName} in region ${region} of this AWS account: deploy it, or choose another`,
  );
}

function output({ Outputs, StackStatus }: Stack, stackName: string, name: string): string {
  const value = Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue;
  if (!value) throw new Refusal(`The stack ${stackName} (${StackStatus}) has no output ${name}: is it deployed whole?`);
  return value;
}
