import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import {
  AttributeType,
  type CfnTable,
  Table,
  type TableProps,
  TableV2,
} from "aws-cdk-lib/aws-dynamodb";
import { CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { App, CfnDeletionPolicy, RemovalPolicy, Stack } from "aws-cdk-lib/core";
import { expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { addRules } from "../../infra/stack/rules.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";

const kept = {
  partitionKey: { name: "id", type: AttributeType.STRING },
  removalPolicy: RemovalPolicy.RETAIN,
  deletionProtection: true,
  pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
};

/**
 * A stack with these parts, to which the rules of an environment apply, without CDK's own
 * validation, which takes a second.
 */
function ruledBy(environment: Environment, addParts?: (stack: Stack) => void): Stack {
  const app = new App({ builtinCloudFormationValidation: false });
  const env = { region: "eu-central-1" };
  const terminationProtection = environment.keepData;
  const stack = new Stack(app, "PetStoreOrders", { env, terminationProtection });
  addParts?.(stack);
  addRules(stack, environment);
  return stack;
}

/** The lines with which the rules stop the synthesis of a stack. */
function complaints(stack: Stack): string {
  try {
    Template.fromStack(stack);
    return "";
  } catch (error) {
    const lines = String(error).matchAll(/^ *\[PetStoreOrders\] (.*)$/gm);
    return Array.from(lines, ([, line]) => line).join("\n");
  }
}

test("with keepData, synthesis stops for what could be deleted or not be restored", () => {
  const weak: Record<string, Partial<TableProps>> = {
    Unprotected: { deletionProtection: false },
    Unrestorable: {
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: false },
    },
    Kept: {},
  };
  const addTables = (stack: Stack) => {
    for (const [id, props] of Object.entries(weak))
      new Table(stack, id, { ...kept, ...props });
    for (const policy of ["deletionPolicy", "updateReplacePolicy"] as const) {
      const { cfnOptions } = new Table(stack, `No_${policy}`, kept).node
        .defaultChild as CfnTable;
      cfnOptions[policy] = CfnDeletionPolicy.DELETE;
    }
    new TableV2(stack, "KeptGlobally", kept);
    const replicas = [{ region: "eu-west-1", deletionProtection: false }];
    new TableV2(stack, "CopiedUnprotected", { ...kept, replicas });
  };
  const stack = ruledBy(everyOption, addTables);
  stack.terminationProtection = false;
  expect(complaints(stack)).toMatchInlineSnapshot(`
    "keepData needs terminationProtection
    keepData: PetStoreOrders/Unprotected/Resource needs removal policy RETAIN, deletion protection and point-in-time recovery
    keepData: PetStoreOrders/Unrestorable/Resource needs removal policy RETAIN, deletion protection and point-in-time recovery
    keepData: PetStoreOrders/No_deletionPolicy/Resource needs removal policy RETAIN, deletion protection and point-in-time recovery
    keepData: PetStoreOrders/No_updateReplacePolicy/Resource needs removal policy RETAIN, deletion protection and point-in-time recovery
    keepData: PetStoreOrders/CopiedUnprotected/Resource needs removal policy RETAIN, deletion protection and point-in-time recovery"
  `);
  expect(complaints(ruledBy(noOption, addTables))).toBe("");
});

test("synthesis warns of what production lacks", () => {
  const { email: _, ...silent } = everyOption.alarms;
  const { listConcurrency: __, webAclArn: ___, ...production } = everyOption;
  const warnings = (environment: Environment, addParts?: (stack: Stack) => void) =>
    Annotations.fromStack(ruledBy(environment, addParts))
      .findWarning("*", Match.anyValue())
      .map(({ entry: { data } }) => data);
  const stackName = "acme-platform-pet-store-orders";
  expect(warnings({ ...production, alarms: silent, stackName })).toMatchInlineSnapshot(`
    [
      "Slow readers of lists can use up the account's concurrency: set listConcurrency [ack: pet-store-orders:listConcurrency]",
      "Requests without a key can use up the clients' rate limits: set webAclArn, or associate a web ACL in own.ts [ack: pet-store-orders:webAclArn]",
      "The alarms notify no one: set alarms.email or alarms.topicArn [ack: pet-store-orders:alarms]",
      "CloudFormation shortens stackName in the names of functions and roles, which have at most 64 letters: write policies for acme-platform-pet-store-* instead of acme-platform-pet-store-orders-* [ack: pet-store-orders:stackName]",
    ]
  `);

  const topicArn = "arn:aws:sns:eu-central-1:111111111111:on-call";
  const complete = { ...everyOption, alarms: { ...silent, topicArn } };
  const resourceArn = "arn:aws:apigateway:eu-central-1::/restapis/1/stages/v1";
  const { webAclArn } = everyOption;
  const addWebAcl = (stack: Stack) =>
    new CfnWebACLAssociation(stack, "WebAcl", { resourceArn, webAclArn });
  expect(warnings(complete, addWebAcl)).toEqual([]);
  expect(warnings(noOption)).toEqual([]);
});
