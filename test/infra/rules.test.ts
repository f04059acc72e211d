import { Template } from "aws-cdk-lib/assertions";
import { AttributeType, CfnTable, Table, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { ManagedPolicy, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { CfnLogGroup } from "aws-cdk-lib/aws-logs";
import { CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { CfnDeletionPolicy, RemovalPolicy, type Stack } from "aws-cdk-lib/core";
import { expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import type { OrdersStack } from "../../infra/stack/orders-stack.ts";
import { addRules } from "../../infra/stack/rules.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { ordersStack } from "../helpers/synthesise.ts";

const kept = {
  partitionKey: { name: "id", type: AttributeType.STRING },
  removalPolicy: RemovalPolicy.RETAIN,
  deletionProtection: true,
  pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
};

function ruledBy(environment: Environment, addParts?: (stack: OrdersStack) => void) {
  const stack = ordersStack(environment);
  addRules(stack, environment);
  // As late as a team's own Aspects.
  addParts?.(stack);
  return stack;
}

test("with keepData, synthesis stops for what could be deleted or not be restored", () => {
  const addTables = (stack: Stack) => {
    new Table(stack, "Kept", kept);
    new TableV2(stack, "KeptGlobally", kept);
    new Table(stack, "Unprotected", { ...kept, deletionProtection: false });
    const pointInTimeRecoverySpecification = { pointInTimeRecoveryEnabled: false };
    new Table(stack, "Unrestorable", { ...kept, pointInTimeRecoverySpecification });
    for (const policy of ["deletionPolicy", "updateReplacePolicy"] as const) {
      const { cfnOptions } = new Table(stack, policy, kept).node.defaultChild as CfnTable;
      cfnOptions[policy] = CfnDeletionPolicy.DELETE;
    }
    const replicas = [{ region: "eu-west-1", deletionProtection: false }];
    new TableV2(stack, "CopiedUnprotected", { ...kept, replicas });
  };
  const needed = "removal policy RETAIN, deletion protection and point-in-time recovery";
  const weak = [
    "Unprotected",
    "Unrestorable",
    "deletionPolicy",
    "updateReplacePolicy",
    "CopiedUnprotected",
  ].map((id) => `keepData: PetStoreOrders/${id}/Resource needs ${needed}`);
  const stack = ruledBy(everyOption, addTables);
  stack.terminationProtection = false;
  expect(stack.node.validate()[0]).toBe("keepData needs terminationProtection");
  stack.terminationProtection = true;
  expect(stack.node.validate()).toEqual(weak);
  expect(() => Template.fromStack(stack)).toThrow(weak[0]);
  const { account } = everyOption;
  const mayBeLost = ruledBy({ ...noOption, account }, addTables);
  expect(mayBeLost.node.validate()).toEqual([]);
});

function warnings(environment: Environment, addParts?: (stack: OrdersStack) => void) {
  const { node } = ruledBy(environment, addParts);
  node.validate();
  const found = node.metadata.filter(({ type }) => type === "aws:cdk:warning");
  return found.map(({ data }) => data);
}

test("synthesis warns of what production lacks", () => {
  const { email: _, ...silent } = everyOption.alarms;
  const { listConcurrency: __, webAclArn, ...production } = everyOption;
  const stackName = "acme-platform-pet-store-or";
  expect(warnings({ ...production, alarms: silent, stackName })).toEqual([
    "Slow readers of lists can use up the account's concurrency: set listConcurrency in infra/environments.ts [ack: pet-store-orders:listConcurrency]",
    "Requests without a key can use up the clients' rate limits: set webAclArn in infra/environments.ts, or associate a web ACL in infra/own.ts [ack: pet-store-orders:webAclArn]",
    "The alarms notify no one: set alarms.email or alarms.topicArn in infra/environments.ts [ack: pet-store-orders:alarms]",
    "CloudFormation shortens stackName in the names of functions and roles, which have at most 64 letters: write policies for acme-platform-pet-store-* instead of acme-platform-pet-store-or-* [ack: pet-store-orders:stackName]",
  ]);

  const topicArn = "arn:aws:sns:eu-central-1:111111111111:on-call";
  const complete = { ...production, listConcurrency: 1, alarms: { ...silent, topicArn } };
  const resourceArn = "arn:aws:apigateway:eu-central-1::/restapis/1/stages/v1";
  const addWebAcl = (stack: Stack) =>
    new CfnWebACLAssociation(stack, "Ours", { resourceArn, webAclArn });
  expect(warnings(complete, addWebAcl)).toEqual([]);
  for (const environment of [everyOption, noOption])
    expect(warnings(environment)).toEqual([]);
});

test("synthesis warns of what own parts need and nothing allows", () => {
  const useKeyAndVpc = ({ functions, node }: OrdersStack) => {
    const managed = "service-role/AWSLambdaVPCAccessExecutionRole";
    const vpcAccess = ManagedPolicy.fromAwsManagedPolicyName(managed);
    functions.authorize.role?.addManagedPolicy(vpcAccess);
    const allow = (...actions: string[]) =>
      new PolicyStatement({ actions, resources: ["1"] });
    functions.listOrders.addToRolePolicy(allow("kms:Encrypt"));
    functions.cancelOrder.addToRolePolicy(
      allow("kms:Decrypt", "ec2:CreateNetworkInterface"),
    );
    for (const part of node.findAll()) {
      if (part instanceof CfnTable)
        part.sseSpecification = { sseEnabled: true, kmsMasterKeyId: "1" };
      if (part instanceof CfnLogGroup && /Access/.test(part.node.path))
        part.addPropertyOverride("KmsKeyId", "1");
      if (part instanceof CfnFunction)
        part.addPropertyOverride("VpcConfig.SubnetIds", ["subnet-1"]);
    }
  };
  const environment = { ...noOption, writerAccounts: ["222222222222"] };
  expect(warnings(environment, useKeyAndVpc)).toEqual([
    "222222222222 may not use the table's key: see infra/MAKE-IT-YOURS.md [ack: pet-store-orders:key:222222222222]",
    "ListOrders may not use the table's key: see infra/MAKE-IT-YOURS.md [ack: pet-store-orders:key:ListOrders]",
    "ListOrders may not connect to its VPC: see infra/MAKE-IT-YOURS.md [ack: pet-store-orders:vpc:ListOrders]",
    "Authorize may not use the table's key: see infra/MAKE-IT-YOURS.md [ack: pet-store-orders:key:Authorize]",
    "CloudWatch Logs may not use the key of a log: see infra/MAKE-IT-YOURS.md [ack: pet-store-orders:key:logs]",
  ]);
});
