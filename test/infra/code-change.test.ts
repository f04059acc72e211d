import { Template } from "aws-cdk-lib/assertions";
import { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { ordersStack } from "../helpers/synthesise.ts";
import { differences } from "./differences.ts";

function withCode(environment: Environment, file: string): Template {
  const stack = ordersStack(environment);
  for (const construct of stack.node.findAll()) {
    if (construct instanceof CfnFunction) construct.addPropertyOverride("Code.S3Key", file);
  }
  return Template.fromStack(stack);
}

test.each([everyOption, noOption])(
  "a change of code replaces only the functions' versions in $name",
  (environment) => {
    const [before, after] = [
      withCode(environment, "one.zip"),
      withCode(environment, "other.zip"),
    ];
    expect(differences(before, after)).toMatchInlineSnapshot(`
      "
      ListOrders
        Code.S3Key: one.zip -> other.zip
      - AWS::Lambda::Version ListOrdersCurrentVersion
      CancelOrder
        Code.S3Key: one.zip -> other.zip
      - AWS::Lambda::Version CancelOrderCurrentVersion
      Authorize
        Code.S3Key: one.zip -> other.zip
      - AWS::Lambda::Version AuthorizeCurrentVersion
      + AWS::Lambda::Version ListOrdersCurrentVersion
      + AWS::Lambda::Version CancelOrderCurrentVersion
      + AWS::Lambda::Version AuthorizeCurrentVersion
      "
    `);
  },
);
