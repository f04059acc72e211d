import type { App } from "aws-cdk-lib";
import type { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { functionList, operations } from "../../infra/stack/function-list.ts";
import { ordersStack, resources, templates } from "../helpers/synthesise.ts";

/**
 * The promises of the environments, as plain values: to change one in `infra/environments.ts`, change it here, on
 * purpose. What is promised of each function is in functions.test.ts, of each alarm in alarms.test.ts.
 */
const promised = {
  staging: {
    stack: { stackName: "PetStoreOrders-staging", terminationProtection: false },
    // CloudFormation passes a stack's tags on to everything in it that can have any, and so to the bill.
    tags: { service: "pet-store-orders", environment: "staging" },
    keys: {
      header: "method.request.header.Authorization",
      expression: "^[Bb][Ee][Aa][Rr][Ee][Rr] pets_test_[0-9A-Za-z]{49}$",
      // A revoked key works for that long.
      rememberedSeconds: 10,
    },
    // Requests a second, and how many at once. A list reads the whole table.
    throttling: {
      "GET /~1store~1orders": [2, 20],
      "DELETE /~1store~1orders~1{orderId}": [20, 40],
      "* /*": [10, 20],
    },
    // A key must never reach the execution log: no lines above ERROR, no data.
    executionLog: ["ERROR", false],
    tables: {
      reads: 2_000,
      writes: 500,
      billing: "PAY_PER_REQUEST",
      deletionProtection: false,
      restorable: false,
      whenDeleted: "Delete",
    },
    logs: { days: 14, whenDeleted: "Delete", accessLogDays: 14, accessLogWhenDeleted: "Delete" },
    functionLogs: ["JSON", "DEBUG", "INFO"],
    canaries: 0,
  },
  production: {
    stack: { stackName: "PetStoreOrders-production", terminationProtection: true },
    tags: { service: "pet-store-orders", environment: "production" },
    keys: {
      header: "method.request.header.Authorization",
      expression: "^[Bb][Ee][Aa][Rr][Ee][Rr] pets_live_[0-9A-Za-z]{49}$",
      rememberedSeconds: 60,
    },
    throttling: {
      "GET /~1store~1orders": [10, 20],
      "DELETE /~1store~1orders~1{orderId}": [200, 400],
      "* /*": [10, 20],
    },
    executionLog: ["ERROR", false],
    tables: {
      reads: 12_000,
      writes: 2_000,
      billing: "PAY_PER_REQUEST",
      deletionProtection: true,
      restorable: true,
      whenDeleted: "Retain",
    },
    // The access log shows what a leaked key was used for; its addresses are personal data.
    logs: { days: 365, whenDeleted: "Delete", accessLogDays: 90, accessLogWhenDeleted: "Retain" },
    // Metrics are counted from lines at INFO.
    functionLogs: ["JSON", "INFO", "WARN"],
    canaries: Object.keys(functionList).length,
  },
};

/** The keys that other services write orders by, and that issued keys are found by. */
const tableKeys = ["id", "keyHash"].map((AttributeName) => [{ AttributeName, KeyType: "HASH" }]);

test.each(templates)("%s keeps its promises", (name, template, environment) => {
  const { artifactId, node } = ordersStack(environment);
  const { tags, terminationProtection } = (node.root as App).synth().getStackArtifact(artifactId);
  expect({
    stack: { stackName: environment.stackName, terminationProtection },
    tags,
    keys: keysOf(template),
    ...methodsOf(template),
    tables: tablesOf(template),
    tableKeys: resources(template, "AWS::DynamoDB::Table").map(([, { KeySchema }]) => KeySchema),
    logs: logsOf(template),
    functionLogs: functionLogsOf(template),
    canaries: resources(template, "AWS::CodeDeploy::DeploymentGroup").length,
  }).toEqual({ ...promised[name as keyof typeof promised], tableKeys });
});

function keysOf(template: Template) {
  const authorizers = resources(template, "AWS::ApiGateway::Authorizer").map(([, authorizer]) => ({
    header: authorizer["IdentitySource"],
    expression: authorizer["IdentityValidationExpression"],
    rememberedSeconds: authorizer["AuthorizerResultTtlInSeconds"],
  }));
  return same(authorizers, 1);
}

function methodsOf(template: Template) {
  const settings = resources(template, "AWS::ApiGateway::Stage").flatMap(
    ([, stage]) => stage["MethodSettings"] as Record<string, unknown>[],
  );
  return {
    throttling: Object.fromEntries(
      settings.map(({ HttpMethod, ResourcePath, ThrottlingRateLimit, ThrottlingBurstLimit }) => [
        `${HttpMethod} ${ResourcePath}`,
        [ThrottlingRateLimit, ThrottlingBurstLimit],
      ]),
    ),
    executionLog: same(
      settings.map(({ LoggingLevel, DataTraceEnabled }) => [LoggingLevel, DataTraceEnabled]),
      // One for each operation, and one for everything else.
      operations.length + 1,
    ),
  };
}

function tablesOf(template: Template) {
  const tables = Object.values(template.findResources("AWS::DynamoDB::Table")).map(
    ({ DeletionPolicy, UpdateReplacePolicy, Properties }) => ({
      reads: Properties.OnDemandThroughput.MaxReadRequestUnits,
      writes: Properties.OnDemandThroughput.MaxWriteRequestUnits,
      billing: Properties.BillingMode,
      deletionProtection: Properties.DeletionProtectionEnabled,
      restorable: Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled,
      whenDeleted: same([DeletionPolicy, UpdateReplacePolicy], 2),
    }),
  );
  return same(tables, 2);
}

function logsOf(template: Template) {
  const logs = Object.entries(template.findResources("AWS::Logs::LogGroup"));
  const [accessLogs, others] = [true, false].map((access) =>
    logs.filter(([id]) => id.startsWith("ApiAccessLog") === access).map(([, log]) => log),
  );
  const days = (log: { [key: string]: { RetentionInDays?: unknown } }) => log["Properties"]?.RetentionInDays;
  const policies = ({ DeletionPolicy, UpdateReplacePolicy }: Record<string, unknown>) => [
    DeletionPolicy,
    UpdateReplacePolicy,
  ];
  return {
    // One for each function, and the gateway's execution log.
    days: same(others?.map(days), Object.keys(functionList).length + 1),
    whenDeleted: same(others?.flatMap(policies), 2 * (Object.keys(functionList).length + 1)),
    accessLogDays: same(accessLogs?.map(days), 1),
    accessLogWhenDeleted: same(accessLogs?.flatMap(policies), 2),
  };
}

function functionLogsOf(template: Template) {
  const levels = resources(template, "AWS::Lambda::Function").map(([, lambda]) => {
    const { LogFormat, ApplicationLogLevel, SystemLogLevel } = lambda["LoggingConfig"] as Record<string, unknown>;
    return [LogFormat, ApplicationLogLevel, SystemLogLevel];
  });
  return same(levels, Object.keys(functionList).length);
}

/** The one value of so many equal ones; all of them when they differ, or are more or fewer. */
function same<Value>(values: Value[] = [], count: number): Value | Value[] | undefined {
  const different = new Set(values.map((value) => JSON.stringify(value)));
  return different.size === 1 && values.length === count ? values[0] : values;
}
