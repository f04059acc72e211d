import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { App, CfnResource, Stack } from "aws-cdk-lib/core";
import { beforeAll, describe, expect, test, vi } from "vitest";
import cdkJson from "../../cdk.json" with { type: "json" };
import { createOrdersApp } from "../../infra/app.ts";
import type { Environment } from "../../infra/environments.ts";
import { functionList } from "../../infra/stack/function-list.ts";
import { skipsCanary } from "../../infra/stack/without-canary.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";

const demo = {
  ...noOption,
  name: "demo",
  stackName: "PetStoreOrders-demo",
  apiKeyPrefix: "pets_demo",
} as const;
const fixtures = { "every-option": everyOption, "no-option": noOption, demo };

/**
 * The app as `cdk` creates it with this context, but for these environments, without bundles and
 * stack traces.
 */
function appWith(
  context: Record<string, unknown> = {},
  environments: Record<string, Environment> = fixtures,
): App {
  const whole = {
    ...cdkJson.context,
    "aws:cdk:bundling-stacks": [],
    "aws:cdk:disable-stack-trace": true,
    ...context,
  };
  vi.stubEnv("CDK_CONTEXT_JSON", JSON.stringify(whole));
  return createOrdersApp(environments);
}

interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  UpdatePolicy?: unknown;
}

type Resources = Record<string, Resource>;

/** The resources of an app's stacks, by the names of the stacks. */
function resourcesWith(
  context: Record<string, unknown>,
  environments?: Record<string, Environment>,
): Record<string, Resources> {
  const app = appWith(context, environments);
  vi.stubEnv("CDK_VALIDATION", "false");
  const { stacks } = app.synth();
  return Object.fromEntries(
    stacks.map(({ stackName, template }) => [stackName, template.Resources]),
  );
}

test("every environment, even a third one, is a stack with the name of its setting", () => {
  const stacks = appWith().node.children.filter((child) => child instanceof Stack);
  expect(stacks.map(({ stackName }) => stackName).sort()).toEqual([
    "PetStoreOrders-demo",
    "PetStoreOrders-everything",
    "PetStoreOrders-no-option",
  ]);
});

test("a mistake in the settings stops synthesis", () => {
  expect(() => appWith({}, { demo, other: demo })).toThrow(/demo and other have one stackName/);
});

test("a wrong context value ends synthesis with exit code 1 and one line", async () => {
  const env = { ...process.env, CDK_CONTEXT_JSON: JSON.stringify({ canary: "off" }) };
  const app = promisify(execFile)(process.execPath, ["infra/app.ts"], { env });
  await expect(app).rejects.toMatchObject({
    code: 1,
    stderr: "canary must be true or false, not off\n",
  });
});

test("a team's own parts are added to the stack of each environment", () => {
  const seen: string[] = [];
  createOrdersApp({ demo, "every-option": everyOption }, (stack) =>
    seen.push(stack.environmentName),
  );
  expect(seen).toEqual(["demo", "every-option"]);
});

describe("cdk deploy -c canary=false", () => {
  const one = { "every-option": everyOption };
  const resourcesAt = (time: string, context: Record<string, unknown>): Resources => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date(time) });
    try {
      return resourcesWith(context, one)["PetStoreOrders-everything"] ?? {};
    } finally {
      vi.useRealTimers();
    }
  };
  const eight = "2026-11-21T08:00:00.000Z";
  const aSecondLater = "2026-11-21T08:00:01.000Z";
  const isAlias = ({ Type }: Resource) => Type === "AWS::Lambda::Alias";
  const descriptions = (resources: Resources) =>
    Object.values(resources)
      .filter(isAlias)
      .map(({ Properties }) => Properties["Description"]);

  let usual: Resources;
  let atOnce: Resources;
  beforeAll(() => {
    usual = resourcesAt(eight, {});
    atOnce = resourcesAt(eight, { canary: "false" });
  });

  test("changes nothing but the aliases", () => {
    const others = Object.entries(usual).filter(([, resource]) => !isAlias(resource));
    for (const [id, resource] of others) expect(atOnce[id]).toEqual(resource);
  });

  test("moves every alias at once", () => {
    for (const [id, { UpdatePolicy, ...alias }] of Object.entries(usual)) {
      if (!isAlias(alias)) continue;
      expect(UpdatePolicy).toBeDefined();
      const Properties = { ...alias.Properties, Description: expect.any(String) };
      expect(atOnce[id]).toEqual({ ...alias, Properties });
    }
  });

  test("says in the description of each alias that it was set without a canary", () => {
    const each = Object.keys(functionList).map(() => `Set without a canary at ${eight}`);
    expect(descriptions(atOnce)).toEqual(each);
  });

  test("sets the aliases again each time", () => {
    const before = descriptions(atOnce);
    const after = descriptions(resourcesAt(aSecondLater, { canary: "false" }));
    expect(before).toHaveLength(after.length);
    expect(after.filter((text) => before.includes(text))).toEqual([]);
  });

  test("sets the aliases of an environment without alarms, too", () => {
    const stacks = resourcesWith({ canary: "false" }, { "no-option": noOption });
    const texts = descriptions(stacks["PetStoreOrders-no-option"] ?? {});
    expect(texts).toHaveLength(Object.keys(functionList).length);
    for (const text of texts) expect(text).toMatch(/^Set at /);
  });
});

test("-c canary takes only true or false", () => {
  const skips = (context: object) => skipsCanary(new App({ context }));
  expect([{}, { canary: "true" }, { canary: true }].map(skips)).toEqual([false, false, false]);
  expect([{ canary: "false" }, { canary: false }].map(skips)).toEqual([true, true]);
  for (const canary of ["off", "", "False"]) {
    expect(() => skips({ canary })).toThrow("canary must be true or false, not");
  }
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

test("CDK's rules and cdk-nag find only the mistakes that this test plants", async () => {
  const app = appWith({}, { "every-option": everyOption, "no-option": noOption });
  const planted = new Stack(app, "Planted");
  new Bucket(planted, "Bucket");
  new CfnResource(planted, "Table", {
    type: "AWS::DynamoDB::Table",
    properties: { BillingMode: "PAY_PER_REQUEST" },
  });
  vi.stubEnv("CDK_VALIDATION", undefined);
  const message = messageOf(() => app.synth());
  const report = /report can be found in: (\S+)/.exec(message)?.[1] ?? message;
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
