import {
  CloudFormationClient,
  DescribeStacksCommand,
} from "@aws-sdk/client-cloudformation";
import { mockClient } from "aws-sdk-client-mock";
import { onTestFinished } from "vitest";
import { environments } from "../../../infra/environments.ts";

/** Where production's stack is. */
export const productionAccount = environments.production.account?.id ?? "210987654321";

/** Makes production's the only stack until the test ends. */
export function deployProduction(tables: { orders: string; apiKeys?: string }): void {
  const cloudFormation = mockClient(CloudFormationClient);
  onTestFinished(() => cloudFormation.restore());
  const { stackName: StackName } = environments.production;
  const unknown = new Error("Stack with id does not exist");
  cloudFormation
    .on(DescribeStacksCommand)
    .rejects(Object.assign(unknown, { name: "ValidationError" }));
  const stack = {
    StackId: `arn:aws:cloudformation:eu-central-1:${productionAccount}:stack/${StackName}/5f3f`,
    StackName,
    StackStatus: "UPDATE_COMPLETE" as const,
    CreationTime: new Date(),
    Outputs: [
      { OutputKey: "OrdersTableName", OutputValue: tables.orders },
      { OutputKey: "ApiKeysTableName", OutputValue: tables.apiKeys ?? "" },
    ],
  };
  cloudFormation.on(DescribeStacksCommand, { StackName }).resolves({ Stacks: [stack] });
}
