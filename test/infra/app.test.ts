import { readFile } from "node:fs/promises";
import { type App, CfnResource, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { expect, test, vi } from "vitest";
import cdkJson from "../../cdk.json" with { type: "json" };
import { functionList } from "../../infra/stack/function-list.ts";
import { OrdersStack } from "../../infra/stack/orders-stack.ts";
import { everyOption } from "../helpers/fixture-environments.ts";

/** `infra/app.ts` as `cdk` runs it with this context, but without bundling. */
async function appWith(context: Record<string, string> = {}): Promise<App> {
  const whole = { ...cdkJson.context, "aws:cdk:bundling-stacks": [], ...context };
  vi.stubEnv("CDK_CONTEXT_JSON", JSON.stringify(whole));
  vi.resetModules();
  const { app } = await import("../../infra/app.ts");
  return app;
}

/** The templates of an app, by the names of their stacks. */
function templates(app: App): Record<string, Template> {
  vi.stubEnv("CDK_VALIDATION", "false");
  const { stacks } = app.synth();
  return Object.fromEntries(stacks.map(({ stackName, template }) => [stackName, Template.fromJSON(template)]));
}

const functions = Object.keys(functionList).length;

test("cdk runs infra/app.ts, on Node 24", () => {
  expect(cdkJson.app).toBe("node --require ./infra/require-node-24.cjs infra/app.ts");
});

test("cdk reports nothing to AWS: not what is deployed, nor how it is used", () => {
  expect(cdkJson).toMatchObject({ versionReporting: false, notices: false, context: { "cli-telemetry": false } });
});

test("the two stacks are deployed under the names that operators, the workflow and the admin tool know", async () => {
  const deployed = templates(await appWith());
  const descriptions = Object.entries(deployed).map(([name, template]) => [name, template.toJSON()["Description"]]);
  expect(Object.fromEntries(descriptions)).toEqual({
    "PetStoreOrders-staging": "Pet store orders service, staging",
    "PetStoreOrders-production": "Pet store orders service, production",
  });
  deployed["PetStoreOrders-staging"]?.resourceCountIs("AWS::CodeDeploy::DeploymentGroup", 0);
  deployed["PetStoreOrders-production"]?.resourceCountIs("AWS::CodeDeploy::DeploymentGroup", functions);
  // Set only without a canary, anew each time: every diff would show it.
  for (const template of Object.values(deployed)) {
    const aliases = Object.values(template.findResources("AWS::Lambda::Alias"));
    expect(aliases.map(({ Properties }) => Properties.Description)).toEqual(Array(functions).fill(undefined));
  }
});

test("cdk deploy -c canary=false sends production's new code all requests at once, and leaves CodeDeploy and the alarms", async () => {
  const template = templates(await appWith({ canary: "false" }))["PetStoreOrders-production"];
  template?.resourceCountIs("AWS::CodeDeploy::DeploymentGroup", functions);
  const aliases = Object.values(template?.findResources("AWS::Lambda::Alias") ?? {});
  expect(aliases).toHaveLength(functions);
  for (const { Properties, UpdatePolicy } of aliases) {
    expect(UpdatePolicy).toBeUndefined();
    expect(Properties.Description).toContain("Set without a canary");
  }
  expect(Object.keys(template?.findResources("AWS::CloudWatch::Alarm") ?? {})).not.toHaveLength(0);
});

interface Report {
  pluginReports: {
    violations: { ruleName: string; severity: string; violatingConstructs: { constructPath: string }[] }[];
  }[];
}

test("CDK's rules and cdk-nag find what is planted, and nothing else in either environment or with every option", async () => {
  const app = await appWith();
  new OrdersStack(app, "EveryOption", everyOption);
  const planted = new Stack(app, "Planted");
  new Bucket(planted, "Bucket");
  new CfnResource(planted, "Table", { type: "AWS::DynamoDB::Table", properties: { BillingMode: "PAY_PER_REQUEST" } });
  vi.stubEnv("CDK_VALIDATION", undefined);
  const [, report = ""] = /report can be found in: (\S+)/.exec(messageOf(() => app.synth())) ?? [];
  const { pluginReports }: Report = JSON.parse(await readFile(report, "utf8"));
  const found = pluginReports.flatMap(({ violations }) =>
    violations.flatMap(({ ruleName, severity, violatingConstructs }) =>
      violatingConstructs.map(({ constructPath }) => `${constructPath}: ${severity} ${ruleName}`),
    ),
  );
  expect(found.sort()).toEqual([
    "Planted/Bucket/Resource: error AwsSolutions-S1",
    "Planted/Bucket/Resource: error AwsSolutions-S10",
    "Planted/Table: error F3003",
  ]);
});

function messageOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return String(error);
  }
  return "nothing was thrown";
}
