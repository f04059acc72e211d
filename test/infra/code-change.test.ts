import { fullDiff } from "@aws-cdk/cloudformation-diff";
import { Template } from "aws-cdk-lib/assertions";
import { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { ordersStack } from "../helpers/synthesise.ts";

function withCode(environment: Environment, file: string) {
  const stack = ordersStack(environment);
  for (const construct of stack.node.findAll()) {
    if (construct instanceof CfnFunction) construct.addPropertyOverride("Code.S3Key", file);
  }
  return Template.fromStack(stack).toJSON();
}

test.each([everyOption, noOption])(
  "a change of code replaces only the functions' versions in $name",
  (environment) => {
    const { changes } = fullDiff(
      withCode(environment, "one.zip"),
      withCode(environment, "other.zip"),
    ).resources;
    const changed = Object.values(changes).map(
      ({ isAddition, isRemoval, propertyUpdates, resourceType }) => {
        if (isAddition) return `${resourceType} added`;
        if (isRemoval) return `${resourceType} removed`;
        return `${resourceType} ${Object.keys(propertyUpdates)}`;
      },
    );
    expect(new Set(changed)).toEqual(
      new Set([
        "AWS::Lambda::Function Code",
        "AWS::Lambda::Alias FunctionVersion",
        "AWS::Lambda::Version added",
        "AWS::Lambda::Version removed",
      ]),
    );
  },
);
