import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { AttributeType, type CfnTable, Table, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { App, CfnDeletionPolicy, RemovalPolicy, Stack } from "aws-cdk-lib/core";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { addRules, requireDistinct } from "../../infra/stack/rules.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { ordersStack } from "../helpers/synthesise.ts";

/** The complaints of synthesis about the tables of a stack, one line each. */
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

const untyped = (settings: object): Environment => ({ ...everyOption, ...settings });
const failuresOf = (percent: number, canary = true) => ({
  alarms: { ...everyOption.alarms, canary, functionFailures: { percent, atLeast: 1 } },
});

describe("synthesis stops", () => {
  test.each<[setting: string, settings: object, line: string]>([
    [
      "a log level at which nothing is counted",
      { functionLogLevel: "WARN" },
      "functionLogLevel must be DEBUG or INFO, not WARN: metrics are counted from INFO lines",
    ],
    [
      "a key prefix with a capital letter",
      { apiKeyPrefix: "pets_Demo" },
      'apiKeyPrefix must be pets_ and then digits or small letters, not "pets_Demo"',
    ],
    [
      "a key prefix that only begins like one",
      { apiKeyPrefix: "pets_demo-1" },
      'apiKeyPrefix must be pets_ and then digits or small letters, not "pets_demo-1"',
    ],
    [
      "a key prefix with a second underscore",
      { apiKeyPrefix: "pets_eu_test" },
      'apiKeyPrefix must be pets_ and then digits or small letters, not "pets_eu_test"',
    ],
    [
      "an alarm that a canary which always fails might not raise",
      failuresOf(10),
      "alarms.functionFailures.percent must be more than 0 and less than a canary's 10 %, not 10",
    ],
    [
      "an alarm that is always on",
      failuresOf(0),
      "alarms.functionFailures.percent must be more than 0 and less than a canary's 10 %, not 0",
    ],
    [
      "a table that is restored and former",
      { formerTables: { orders: "orders-of-yesterday" } },
      "restoredTables and formerTables name one table twice",
    ],
    [
      "restored tables that nothing protects",
      { keepData: false },
      "restoredTables and formerTables need keepData",
    ],
    [
      "a name no table can have",
      { formerTables: { orders: "old orders" } },
      'no table can be called "old orders"',
    ],
    ["an empty name of a table", { restoredTables: { orders: "" } }, 'no table can be called ""'],
    [
      "an account that lacks a digit",
      { writerAccounts: ["222222222222", "33333333333"] },
      'writerAccounts: an account id has 12 digits, not "33333333333"',
    ],
    [
      "an account with a digit too many",
      { writerAccounts: ["222222222222", "3333333333333"] },
      'writerAccounts: an account id has 12 digits, not "3333333333333"',
    ],
  ])("for %s", (_setting, settings, line) => {
    expect(() => ordersStack(untyped(settings))).toThrow(
      new Error(`environments.every-option: ${line}`),
    );
  });

  test("for limits that let nothing through, with a line for each", () => {
    const settings = {
      listConcurrency: 0,
      tableThroughput: { reads: 0, writes: Number.NaN },
      throttling: {
        listOrders: { rateLimit: 0, burstLimit: "0" },
        cancelOrder: { rateLimit: undefined, burstLimit: -1 },
      },
    };
    const lines = [
      "listConcurrency must be more than 0, not 0",
      "tableThroughput.reads must be more than 0, not 0",
      "tableThroughput.writes must be more than 0, not NaN",
      "throttling.listOrders.rateLimit must be more than 0, not 0",
      "throttling.listOrders.burstLimit must be more than 0, not 0",
      "throttling.cancelOrder.rateLimit must be more than 0, not undefined",
      "throttling.cancelOrder.burstLimit must be more than 0, not -1",
    ];
    const whole = lines.map((line) => `environments.every-option: ${line}`).join("\n");
    expect(() => ordersStack(untyped(settings))).toThrow(new Error(whole));
  });

  test("never for an alarm that any failing canary raises, nor for one without a canary", () => {
    for (const settings of [failuresOf(9), failuresOf(50, false)])
      expect(complaints(ruledBy(untyped(settings)))).toEqual([]);
  });

  test("never for every option, nor for none", () => {
    expect(
      [everyOption, noOption].flatMap((environment) => complaints(ordersStack(environment))),
    ).toEqual([]);
  });
});

describe("with keepData, synthesis stops for a table that is not protected", () => {
  const partitionKey = { name: "id", type: AttributeType.STRING };
  const line = (path: string) =>
    `keepData: PetStoreOrders/${path} needs removal policy RETAIN, deletion protection and point-in-time recovery`;

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

  test("be it the team's own", () => {
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

  test("or for the stack itself, but not without keepData", () => {
    const stack = ruledBy(everyOption);
    stack.terminationProtection = false;
    expect(complaints(stack)).toEqual(["keepData needs terminationProtection"]);
    const loose = ruledBy(noOption);
    new Table(loose, "Refunds", { partitionKey });
    expect(complaints(loose)).toEqual([]);
  });
});

describe("the environments", () => {
  const other = {
    ...noOption,
    name: "other",
    stackName: "PetStoreOrders-other",
    apiKeyPrefix: "pets_other",
  } as const;

  test("may be any, if each has a stack, a key prefix and its own name to itself", () => {
    expect(() => requireDistinct({ "no-option": noOption, other })).not.toThrow();
  });

  test("share no stack and no key prefix, and are named like their entry: a line for each mistake", () => {
    const { stackName, apiKeyPrefix } = noOption;
    expect(() =>
      requireDistinct({ "no-option": noOption, another: { ...other, stackName, apiKeyPrefix } }),
    ).toThrow(
      new Error(
        'environments.another: its name must be "another", not "other"\n' +
          "environments: no-option and another have one stackName, PetStoreOrders-no-option\n" +
          "environments: no-option and another have one apiKeyPrefix, pets_none",
      ),
    );
  });
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

  test("of slow readers without listConcurrency, where data is kept", () => {
    expect(warnings(unlimited)).toEqual([expect.stringContaining("set listConcurrency")]);
    expect(warnings(noOption)).toEqual([]);
    expect(warnings(everyOption)).toEqual([]);
  });
});
