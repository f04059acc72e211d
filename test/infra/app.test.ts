import { readFile } from "node:fs/promises";
import { runInNewContext } from "node:vm";
import type { CfnTable } from "aws-cdk-lib/aws-dynamodb";
import { Key } from "aws-cdk-lib/aws-kms";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { type App, CfnResource, Stack } from "aws-cdk-lib/core";
import { expect, test, vi } from "vitest";
import cdkJson from "../../cdk.json" with { type: "json" };
import { createOrdersApp } from "../../infra/app.ts";
import type { Environment } from "../../infra/environments.ts";
import type { Template } from "../../infra/tools/deploy/compare-templates.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { differences } from "./differences.ts";

const staging = { ...noOption, name: "staging" };
const fixtures = { "every-option": everyOption, staging };
const stackName = "PetStoreOrders-demo";
const demo: Environment = { ...noOption, name: "demo", stackName, apiKeyPrefix: "demo" };

function appWith(
  context: Record<string, unknown> = {},
  environments: Record<string, Environment> = fixtures,
  addParts?: Parameters<typeof createOrdersApp>[1],
): App {
  const whole = {
    ...cdkJson.context,
    "aws:cdk:bundling-stacks": [],
    "aws:cdk:disable-creation-stack-traces": true,
    "aws:cdk:disable-stack-trace": true,
    "aws:cdk:enable-path-metadata": true,
    ...context,
  };
  vi.stubEnv("CDK_CONTEXT_JSON", JSON.stringify(whole));
  return createOrdersApp(environments, addParts);
}

test("every environment, even a third one, is a stack with a team's own parts, which rules check", () => {
  const seen: string[] = [];
  const app = appWith({}, { ...fixtures, demo }, (stack) => {
    const { alarmsTopic, apiKeysTable, functions, ordersTable, stage } = stack;
    const parts = [ordersTable, apiKeysTable, stage, alarmsTopic];
    const ids = [...parts, ...Object.values(functions)].map((part) => part?.node.id);
    const { environmentName, keepData, stackName, writerAccounts } = stack;
    seen.push(
      [stackName, environmentName, keepData, ...writerAccounts, ...ids].join(" "),
    );
    stack.terminationProtection = false;
    const table = stack.ordersTable.node.defaultChild as CfnTable;
    table.sseSpecification = { sseEnabled: true, kmsMasterKeyId: "key" };
  });
  expect(seen.join("\n")).toBe(
    `PetStoreOrders-everything every-option true 222222222222 Orders ApiKeys DeploymentStage.v1 Topic ListOrders CancelOrder Authorize
PetStoreOrders-no-option staging false Orders ApiKeys DeploymentStage.v1  ListOrders CancelOrder Authorize
PetStoreOrders-demo demo false Orders ApiKeys DeploymentStage.v1  ListOrders CancelOrder Authorize`,
  );
  const broken = app.node.children.flatMap(({ node }) => node.validate());
  expect(broken).toEqual(["keepData needs terminationProtection"]);
  const warned = app.node.children.flatMap(({ node }) => node.metadata);
  expect(JSON.stringify(warned)).toContain("may not use the table's key");
});

test("CDK runs the app with a team's own parts and errors of a line, and tells AWS nothing of its use", async () => {
  expect(cdkJson).toMatchObject({
    app: "node --import ./infra/tools/terminal/report-errors.ts infra/app.ts",
    versionReporting: false,
    notices: false,
    context: { "cli-telemetry": false },
  });
  const source = await readFile("infra/app.ts", "utf8");
  expect(source).toMatch(/main\) createOrdersApp\(environments, addOwnParts\);$/m);
});

test("a mistake in the settings stops synthesis", () => {
  const error = {
    name: "CommandError",
    message: `environments.other.name must be "other", not 'demo'`,
  };
  expect(() => appWith({}, { staging, other: demo })).toThrow(
    expect.objectContaining(error),
  );
  for (const canary of ["untrue", "falsely", "False", ""])
    expect(() => appWith({ canary })).toThrow(`true or false, not ${canary}`);
});

test("cdk deploy -c canary=false is as the setting, and sets every alias each time", () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-21T08:00:00Z") });
  const templates = (every: Environment, canary?: string) => {
    const app = appWith({ canary }, { ...fixtures, "every-option": every });
    vi.stubEnv("CDK_VALIDATION", "false");
    return app.synth().stacks.map(({ template }): Template => template);
  };
  const alarms = { ...everyOption.alarms, canary: false };
  const atOnce = templates(everyOption, "false");
  expect(JSON.stringify(atOnce)).not.toContain("UpdatePolicy");
  const changes = templates({ ...everyOption, alarms }).map((template, index) =>
    differences(template, atOnce[index] ?? template),
  );
  expect(changes.join("")).toBe(`
  ListOrders/Aliaslive, CancelOrder/Aliaslive, Authorize/Aliaslive: Properties.Description unset -> "Set without a canary at 2026-11-21T08:00:00.000Z"
  ListOrders/Aliaslive, CancelOrder/Aliaslive, Authorize/Aliaslive: UpdatePolicy unset -> "skipped once"
  ListOrders/Aliaslive, CancelOrder/Aliaslive, Authorize/Aliaslive: Properties.Description unset -> "Set at 2026-11-21T08:00:00.000Z"`);
});

test("every feature flag of CDK has its default, so that CDK suggests to set none", () => {
  vi.stubEnv("CDK_VALIDATION", "false");
  const { artifacts = {} } = appWith({}, { staging }).synth().manifest;
  const { flags } = Object(artifacts["aws-cdk-lib/feature-flag-report"]?.properties);
  const suggested = Object.keys(flags).filter((name) => {
    const { recommendedValue, unconfiguredBehavesLike, userValue } = flags[name];
    const { v2 = false } = Object(unconfiguredBehavesLike);
    return userValue === undefined && recommendedValue !== v2;
  });
  expect(suggested).toEqual([]);
});

const page = await readFile("infra/MAKE-IT-YOURS.md", "utf8");

/** Adds the example of `own.ts`, if it is still there, and the recipes of `MAKE-IT-YOURS.md`. */
async function addExamples(): Promise<Parameters<typeof createOrdersApp>[1]> {
  const lines = (await readFile("infra/own.ts", "utf8")).match(/(?<=^ \* {5}).+/gm) ?? [];
  const recipes = page.matchAll(/(?<=^```ts$).*?(?=^```$)/gms);
  const source = [...lines, ...recipes].join("\n");
  const imported: Record<string, unknown> = {};
  for (const [, names = "", file = ""] of source.matchAll(
    /^import \{ (.+) \} from "(.+)";/gm,
  )) {
    const module = await import(file);
    for (const name of names.split(", ")) imported[name] = module[name];
  }
  const body = source.replaceAll(/^import .*/gm, "");
  return (stack) => runInNewContext(body, { ...imported, stack });
}

test("CDK's rules and cdk-nag find only what is planted, and accept the examples of own parts", async () => {
  const context = JSON.parse(`{${page.match(/^"@aws-cdk.*/m)}}`);
  const app = appWith(context, fixtures, await addExamples());
  for (const stack of app.node.children.map(Stack.of)) {
    expect(stack.synthesizer.bootstrapQualifier).toBe("acme");
    expect(stack.node.tryFindChild("Key")).toBeInstanceOf(Key);
    const warned = stack.node.metadata.filter(({ data }) => /MAKE-IT/.test(`${data}`));
    expect(warned).toEqual([]);
  }
  const planted = new Stack(app, "Planted");
  new Bucket(planted, "Bucket", { enforceSSL: true });
  new CfnResource(planted, "Table", {
    type: "AWS::DynamoDB::Table",
    properties: { BillingMode: "PAY_PER_REQUEST" },
  });
  vi.stubEnv("CDK_VALIDATION", undefined);
  const synthesised = (async () => app.synth())();
  const message = `${await synthesised.catch(String)}`;
  expect(
    message.replace(/(?<=can be found in: ).*/, "FILE"),
  ).toBe(`ValidationFailed: ERROR The S3 Bucket has server access logs disabled. (AwsSolutions)
   Planted/Bucket/Resource aws-cdk-lib.aws_s3.CfnBucket
   Acknowledge with 'AwsSolutions::AwsSolutions-S1'

ERROR Properties: 'KeySchema' is a required property (CloudFormation Validate)
   Planted/Table (Table) aws-cdk-lib.CfnResource
   Suggested fix: Add the required property 'KeySchema'
   Acknowledge with 'CloudFormation-Validate::F3003'

A copy of this report can be found in: FILE`);
});
