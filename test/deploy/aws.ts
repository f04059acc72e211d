import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
  type StackStatus,
} from "@aws-sdk/client-cloudformation";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { mockClient } from "aws-sdk-client-mock";
import { afterAll, beforeEach, vi } from "vitest";
import { stackName, templateUsing } from "./environments.ts";

export const account = "111111111111";
export const region = "eu-central-1";

/** The mocked AWS clients. */
export const cloudFormation = mockClient(CloudFormationClient);
export const dynamoDb = mockClient(DynamoDBClient);
export const sts = mockClient(STSClient);

/** Mocks AWS: before each test the stack is UPDATE_COMPLETE, and its table active. */
export function useAws(): void {
  beforeEach(() => {
    for (const name of ["AWS_PROFILE", "AWS_REGION"]) vi.stubEnv(name, undefined);
    cloudFormation.reset();
    const deployed = JSON.stringify(templateUsing("OLD"));
    cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody: deployed });
    stackHas("UPDATE_COMPLETE");
    sts.reset();
    sts.on(GetCallerIdentityCommand).resolves({ Account: account });
    dynamoDb.reset();
    dynamoDb.on(DescribeTableCommand).resolves({ Table: { TableStatus: "ACTIVE" } });
  });
  afterAll(() => {
    for (const client of [cloudFormation, dynamoDb, sts]) client.restore();
  });
}

/** Has CloudFormation describe the stack with this status. */
export function stackHas(status: StackStatus): void {
  const stack = {
    StackName: stackName,
    StackStatus: status,
    CreationTime: new Date(),
    EnableTerminationProtection: true,
    Outputs: [{ OutputKey: "OrdersTableName", OutputValue: "Orders-1" }],
  };
  cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: [stack] });
}

/** Has CloudFormation fail to describe the stack. */
export function describingFails(error: Error): void {
  cloudFormation.on(DescribeStacksCommand).rejects(error);
}

export function stackDoesNotExist(): void {
  describingFails(new Error(`Stack with id ${stackName} does not exist`));
}
