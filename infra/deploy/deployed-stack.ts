import { CloudFormationClient, DescribeStacksCommand, GetTemplateCommand } from "@aws-sdk/client-cloudformation";
import type { Environment } from "../environments.ts";
import type { StackToCompare } from "./template.ts";

/** A stack in one of these states has never served anyone: CDK starts over. */
const neverCreated = ["REVIEW_IN_PROGRESS", "ROLLBACK_COMPLETE"];

/**
 * Reads what is deployed, with the caller's own credentials: `cloudformation:DescribeStacks` and `GetTemplate`.
 *
 * @returns undefined before the first deployment.
 * @throws what the SDK throws when it can't ask.
 */
export async function readDeployedStack({ stackName, account }: Environment): Promise<StackToCompare | undefined> {
  const client = new CloudFormationClient(account ? { region: account.region } : {});
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
    if (neverCreated.includes(stack?.StackStatus ?? "")) return undefined;
    const { TemplateBody = "" } = await client.send(new GetTemplateCommand({ StackName: stackName }));
    return {
      template: JSON.parse(TemplateBody),
      terminationProtection: stack?.EnableTerminationProtection === true,
    };
  } catch (error) {
    if (error instanceof Error && error.name === "ValidationError" && /does not exist/.test(error.message)) {
      return undefined;
    }
    throw error;
  } finally {
    client.destroy();
  }
}
