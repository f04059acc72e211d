import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { AttributeType, type CfnTable, Table, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { App, CfnDeletionPolicy, RemovalPolicy, Stack } from "aws-cdk-lib/core";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { addRules } from "../../infra/stack/rules.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";

/** The lines with which the rules stop the synthesis of a stack. */
function complaints(stack: Stack): string[] {
  try {
    Template.fromStack(stack);
    return [];
  } catch (error) {
    return [...String(error).matchAll(/^ *\[PetStoreOrders\] (.*)$/gm)].map(
      ([, line = ""]) => line,
    );
  }
}

/**
 * An empty stack to which the rules of an environment apply, without CDK's own validation, which
 * takes a second.
 */
function ruledBy(environment: Environment): Stack {
  const props = { env: { region: "eu-central-1" }, terminationProtection: environment.keepData };
  const stack = new Stack(
    new App({ builtinCloudFormationValidation: false }),
    "PetStoreOrders",
    props,
  );
  addRules(stack, environment);
  return stack;
}

describe("with keepData, synthesis stops for a table that is not protected", () => {
  const partitionKey = { name: "id", type: AttributeType.STRING };
  const line = (path: string) =>
    `keepData: PetStoreOrders/${path} needs removal policy RETAIN, deletion protection and ` +
    "point-in-time recovery";

  const kept = {
    partitionKey,
    removalPolicy: RemovalPolicy.RETAIN,
    deletionProtection: true,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  };

  test.each<[name: string, weaken: (table: CfnTable) => object]>([
    [
      "retained",
      ({ cfnOptions }) => Object.assign(cfnOptions, { deletionPolicy: CfnDeletionPolicy.DELETE }),
    ],
    [
      "retained when replaced",
      ({ cfnOptions }) =>
        Object.assign(cfnOptions, { updateReplacePolicy: CfnDeletionPolicy.DELETE }),
    ],
    [
      "protected against deletion",
      (table) => Object.assign(table, { deletionProtectionEnabled: false }),
    ],
    [
      "restorable",
      (table) => Object.assign(table, { pointInTimeRecoverySpecification: undefined }),
    ],
  ])("because it is not %s", (_name, weaken) => {
    const stack = ruledBy(everyOption);
    for (const id of ["Good", "Bad", "Worse"]) new Table(stack, id, kept);
    for (const id of ["Bad", "Worse"])
      weaken(stack.node.findChild(id).node.defaultChild as CfnTable);
    expect(complaints(stack)).toEqual(["Bad/Resource", "Worse/Resource"].map(line));
  });

  test("even if it is the team's own", () => {
    const stack = ruledBy(everyOption);
    new Table(stack, "Refunds", { partitionKey });
    new TableV2(stack, "Returns", {
      partitionKey,
      removalPolicy: RemovalPolicy.RETAIN,
      deletionProtection: true,
    });
    new TableV2(stack, "Kept", kept);
    new TableV2(stack, "Copied", {
      ...kept,
      replicas: [{ region: "eu-west-1", deletionProtection: false }],
    });
    const paths = ["Refunds/Resource", "Returns/Resource", "Copied/Resource"];
    expect(complaints(stack)).toEqual(paths.map(line));
  });
});

test("with keepData, synthesis stops for a stack without termination protection", () => {
  const stack = ruledBy(everyOption);
  stack.terminationProtection = false;
  expect(complaints(stack)).toEqual(["keepData needs terminationProtection"]);
});

test("without keepData, synthesis asks for no protection", () => {
  const stack = ruledBy(noOption);
  new Table(stack, "Refunds", { partitionKey: { name: "id", type: AttributeType.STRING } });
  expect(complaints(stack)).toEqual([]);
});

describe("synthesis warns", () => {
  const warnings = (environment: Environment) =>
    Annotations.fromStack(ruledBy(environment))
      .findWarning("*", Match.anyValue())
      .map(({ entry: { data } }) => String(data));
  const { email: _, ...silent } = everyOption.alarms;
  const { listConcurrency: __, ...unlimited } = everyOption;

  test("of alarms that notify no one", () => {
    const text = "The alarms notify no one: set alarms.email or alarms.topicArn";
    expect(warnings({ ...everyOption, alarms: silent })).toEqual([expect.stringContaining(text)]);
    const topicArn = "arn:aws:sns:eu-central-1:111111111111:on-call";
    expect(warnings({ ...everyOption, alarms: { ...silent, topicArn } })).toEqual([]);
  });

  test("of slow readers when data is kept without listConcurrency", () => {
    expect(warnings(unlimited)).toEqual([expect.stringContaining("set listConcurrency")]);
    expect(warnings(noOption)).toEqual([]);
    expect(warnings(everyOption)).toEqual([]);
  });
});
