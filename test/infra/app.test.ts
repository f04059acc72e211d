import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { Template } from "aws-cdk-lib/assertions";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { App, CfnResource, Stack } from "aws-cdk-lib/core";
import { expect, onTestFinished, test, vi } from "vitest";
import cdkJson from "../../cdk.json" with { type: "json" };
import { createOrdersApp } from "../../infra/app.ts";
import type { Environment } from "../../infra/environments.ts";
import { skipsCanary } from "../../infra/stack/canary-rollout.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { differences } from "./differences.ts";

const fixtures = { "every-option": everyOption, "no-option": noOption };
const stackName = "PetStoreOrders-demo";
const demo: Environment = { ...noOption, name: "demo", stackName, apiKeyPrefix: "demo" };

/** The app as `cdk` creates it with this context, without bundles and stack traces. */
function appWith(
  context: Record<string, unknown> = {},
  environments: Record<string, Environment> = fixtures,
  addParts?: Parameters<typeof createOrdersApp>[1],
): App {
  const whole = {
    ...cdkJson.context,
    "aws:cdk:bundling-stacks": [],
    "aws:cdk:disable-stack-trace": true,
    ...context,
  };
  vi.stubEnv("CDK_CONTEXT_JSON", JSON.stringify(whole));
  return createOrdersApp(environments, addParts);
}

test("every environment, even a third one, is a stack with a team's own parts", () => {
  const seen: string[] = [];
  const app = appWith({}, { ...fixtures, demo }, (stack) => seen.push(stack.environmentName));
  const stacks = app.node.children.filter((child) => child instanceof Stack);
  expect(stacks.map((stack) => stack.stackName)).toEqual([
    "PetStoreOrders-everything",
    "PetStoreOrders-no-option",
    "PetStoreOrders-demo",
  ]);
  expect(seen).toEqual(["every-option", "no-option", "demo"]);
});

test("a mistake in the settings stops synthesis", () => {
  expect(() => appWith({}, { other: demo })).toThrow(`name must be "other", not 'demo'`);
});

test("a wrong context value ends synthesis with exit code 1 and one line", async () => {
  const env = { ...process.env, CDK_CONTEXT_JSON: JSON.stringify({ canary: "off" }) };
  const args = ["--require", "./infra/require-node-24.cjs", "infra/app.ts"];
  const app = promisify(execFile)(process.execPath, args, { env });
  const stderr = "canary must be true or false, not off\n";
  await expect(app).rejects.toMatchObject({ code: 1, stderr });
});

test("-c canary takes only true or false", () => {
  const skips = (context: object) => skipsCanary(new App({ context }));
  expect([{}, { canary: "true" }, { canary: true }].map(skips)).toEqual([false, false, false]);
  expect([{ canary: "false" }, { canary: false }].map(skips)).toEqual([true, true]);
  for (const canary of ["off", "", "False"])
    expect(() => skips({ canary })).toThrow("canary must be true or false, not");
});

test("cdk deploy -c canary=false sets every alias at once, and again each time", () => {
  onTestFinished(() => void vi.useRealTimers());
  const templatesAt = (time: string, canary: string) => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date(time) });
    const app = appWith({ canary });
    vi.stubEnv("CDK_VALIDATION", "false");
    return app.synth().stacks.map(({ template }) => Template.fromJSON(template));
  };
  const [early, late] = ["2026-11-21T08:00:00Z", "2026-11-21T08:00:01Z"] as const;
  const [usual, atOnce, again] = [
    templatesAt(early, "true"),
    templatesAt(early, "false"),
    templatesAt(late, "false"),
  ];
  const changes = (before: Template[], after: Template[]) =>
    before.map((template, index) => differences(template, after[index] ?? template)).join("");
  expect(changes(usual, atOnce)).toMatchInlineSnapshot(`
    "
    ListOrdersAliaslive UpdatePolicy.CodeDeployLambdaAliasUpdate.ApplicationName: RolloutApplication -> nothing
    ListOrdersAliaslive UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName: RolloutListOrders -> nothing
    ListOrdersAliaslive Description: nothing -> Set without a canary at 2026-11-21T08:00:00.000Z
    CancelOrderAliaslive UpdatePolicy.CodeDeployLambdaAliasUpdate.ApplicationName: RolloutApplication -> nothing
    CancelOrderAliaslive UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName: RolloutCancelOrder -> nothing
    CancelOrderAliaslive Description: nothing -> Set without a canary at 2026-11-21T08:00:00.000Z
    AuthorizeAliaslive UpdatePolicy.CodeDeployLambdaAliasUpdate.ApplicationName: RolloutApplication -> nothing
    AuthorizeAliaslive UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName: RolloutAuthorize -> nothing
    AuthorizeAliaslive Description: nothing -> Set without a canary at 2026-11-21T08:00:00.000Z

    ListOrdersAliaslive Description: nothing -> Set at 2026-11-21T08:00:00.000Z
    CancelOrderAliaslive Description: nothing -> Set at 2026-11-21T08:00:00.000Z
    AuthorizeAliaslive Description: nothing -> Set at 2026-11-21T08:00:00.000Z
    "
  `);
  expect(changes(atOnce, again)).toMatchInlineSnapshot(`
    "
    ListOrdersAliaslive Description: Set without a canary at 2026-11-21T08:00:00.000Z -> Set without a canary at 2026-11-21T08:00:01.000Z
    CancelOrderAliaslive Description: Set without a canary at 2026-11-21T08:00:00.000Z -> Set without a canary at 2026-11-21T08:00:01.000Z
    AuthorizeAliaslive Description: Set without a canary at 2026-11-21T08:00:00.000Z -> Set without a canary at 2026-11-21T08:00:01.000Z

    ListOrdersAliaslive Description: Set at 2026-11-21T08:00:00.000Z -> Set at 2026-11-21T08:00:01.000Z
    CancelOrderAliaslive Description: Set at 2026-11-21T08:00:00.000Z -> Set at 2026-11-21T08:00:01.000Z
    AuthorizeAliaslive Description: Set at 2026-11-21T08:00:00.000Z -> Set at 2026-11-21T08:00:01.000Z
    "
  `);
});

interface Report {
  pluginReports: {
    violations: {
      ruleName: string;
      severity: string;
      violatingConstructs: { constructPath: string }[];
    }[];
  }[];
}

/** What CDK's rules and cdk-nag say about an app, a line for each finding. */
async function findings(app: App): Promise<string[]> {
  vi.stubEnv("CDK_VALIDATION", undefined);
  const message = messageOf(() => app.synth());
  const report = /report can be found in: (\S+)/.exec(message)?.[1] ?? message;
  const { pluginReports }: Report = JSON.parse(await readFile(report, "utf8"));
  const found = pluginReports.flatMap(({ violations }) =>
    violations.flatMap(({ ruleName, severity, violatingConstructs }) =>
      violatingConstructs.map(({ constructPath }) => `${constructPath}: ${severity} ${ruleName}`),
    ),
  );
  return found.sort();
}

function messageOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return String(error);
  }
  return "nothing was thrown";
}

/** The example in infra/own.ts as a team would have it there. */
async function ownExample(): Promise<Parameters<typeof createOrdersApp>[1]> {
  const lines = (await readFile("infra/own.ts", "utf8")).match(/(?<=^ \* {5}).+/gm) ?? [];
  const { imports = [], body = [] } = Object.groupBy(lines, (line) =>
    line.startsWith("import ") ? "imports" : "body",
  );
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-own-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await symlink(resolve("node_modules"), join(directory, "node_modules"));
  const file = join(directory, "own.mjs");
  const source = [...imports, "export function addOwnParts(stack) {", ...body, "}"];
  await writeFile(file, source.join("\n"));
  const { addOwnParts } = await import(file);
  return addOwnParts;
}

test("CDK's rules and cdk-nag find only what is planted, and accept the example of own parts", async () => {
  const app = appWith({}, fixtures, await ownExample());
  const [stack] = app.node.children;
  expect(stack?.node.tryFindChild("Exports")).toBeInstanceOf(Bucket);
  const planted = new Stack(app, "Planted");
  new Bucket(planted, "Bucket");
  new CfnResource(planted, "Table", {
    type: "AWS::DynamoDB::Table",
    properties: { BillingMode: "PAY_PER_REQUEST" },
  });
  expect(await findings(app)).toEqual([
    "Planted/Bucket/Resource: error AwsSolutions-S1",
    "Planted/Bucket/Resource: error AwsSolutions-S10",
    "Planted/Table: error F3003",
  ]);
});
