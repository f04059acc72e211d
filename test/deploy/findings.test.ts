import { describe, expect, test } from "vitest";
import { type Finding, findChanges } from "../../infra/deploy/findings.ts";
import type { Place, Template } from "../../infra/deploy/template.ts";
import type { Environment } from "../../infra/environments.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { ordinaryChanges } from "./ordinary-changes.ts";
import { add, push, set, type Which } from "./stopping/change.ts";
import { stoppingChanges } from "./stopping/stopping-changes.ts";
import { deployedTemplate, one, settings, synthesised } from "./templates.ts";

const place: Place = { account: "111111111111", region: "eu-central-1" };

const findingsBetween = (was: Template, is: Template) =>
  findChanges({ template: was }, { template: is }, place);

/** The findings when the deployed template changes like this. */
function findingsOf(change: (next: Template) => unknown): Finding[] {
  const next = structuredClone(deployedTemplate);
  change(next);
  return findingsBetween(deployedTemplate, next);
}

/** The names of findings, without their digests. */
const namesOf = (findings: Finding[]) =>
  findings.map(({ name }) => name.replace(/([@=])[\da-f]{12}$/, "$1DIGEST"));

/** The names of the findings when an environment's settings change. */
const foundBetween = (was: Environment, is: Environment) =>
  namesOf(findingsBetween(synthesised(was), synthesised(is)));

describe("a deployment stops when", () => {
  for (const { title, change, names } of stoppingChanges) {
    test(title, () => {
      expect(namesOf(findingsOf(change))).toEqual(names);
    });
  }
});

describe("a deployment does not stop for", () => {
  test.each(ordinaryChanges)("%s", (_, change) => {
    expect(findingsOf(change)).toEqual([]);
  });

  const { alarms, dashboard: _dashboard, ...rest } = everyOption;
  const otherNumbers: Environment = {
    ...rest,
    tags: { ...everyOption.tags, team: "others", another: "1" },
    tableThroughput: { reads: 18_000, writes: 3000 },
    throttling: { ...everyOption.throttling, listOrders: { rateLimit: 5, burstLimit: 9 } },
    listConcurrency: 15,
    logRetentionDays: 731,
    accessLogRetentionDays: 731,
    functionLogLevel: "DEBUG",
    systemLogLevel: "INFO",
    alarms: { ...alarms, functionFailures: { percent: 6, atLeast: 3 }, listsCutOff: 9 },
  };
  const { account: _account, ...unpinned } = settings;
  const unkept: Environment = { ...settings, keepData: false };
  const plain: Environment = { ...settings, dashboard: false };
  test.each<[string, Environment, Environment]>([
    ["other numbers, log levels, tags and no dashboard", everyOption, otherNumbers],
    ["an account that is pinned to where the stack is", unpinned, settings],
    ["an account that is no longer pinned", settings, unpinned],
    ["data that is kept from now on", unkept, settings],
    ["a dashboard that is added", plain, settings],
  ])("%s", (_, was, is) => {
    expect(foundBetween(was, is)).toEqual([]);
  });
});

describe("the canary", () => {
  const group = { CodeDeployLambdaAliasUpdate: { ApplicationName: "a" } };
  const alias = (Description: string | undefined, UpdatePolicy: object | undefined): Template => ({
    Resources: {
      Alias: {
        Type: "AWS::Lambda::Alias",
        ...(Description && { Properties: { Description } }),
        ...(UpdatePolicy && { UpdatePolicy }),
      },
    },
  });
  const withCanary = alias(undefined, group);
  const once = alias("Set without a canary at 2026-11-24", undefined);
  const without = alias("Set at 2026-11-24", undefined);
  const names = (was: Template, is: Template) =>
    findChanges({ template: was }, { template: is }).map(({ name }) => name);

  test("may be left out for one deployment when the alias says so", () => {
    expect(names(withCanary, once)).toEqual([]);
  });

  test("may be left out for two deployments in a row", () => {
    const again = alias("Set without a canary at 2026-11-25", undefined);
    expect(names(once, again)).toEqual([]);
  });

  test("may return afterwards", () => {
    expect(names(once, withCanary)).toEqual([]);
  });

  test("stops a deployment when it goes", () => {
    expect(names(withCanary, without)).toEqual(["Alias.UpdatePolicy=unset"]);
  });

  test("stops a deployment when it does not return", () => {
    expect(names(once, without)).toEqual(["Alias.UpdatePolicy=unset"]);
  });
});

/**
 * The template without all that belongs to cancellations. The path goes too, unless it serves
 * another operation.
 */
function withoutCancelOrder(): Template {
  const template = structuredClone(deployedTemplate);
  const pathOf = (id: string) => template.Resources[id]?.["Metadata"]?.["aws:cdk:path"] ?? "";
  const ids = Object.keys(template.Resources);
  const isShared = ids.some((id) => /\/\{orderId\}\/(?!DELETE|ANY)[A-Z]+\//.test(pathOf(id)));
  const own = isShared ? /Cancel|\/\{orderId\}\/DELETE/ : /Cancel|\/\{orderId\}/;
  for (const id of ids) if (own.test(pathOf(id))) delete template.Resources[id];
  const { properties } = one(template, "ApiGateway::Stage");
  properties["MethodSettings"] = properties["MethodSettings"].filter(
    ({ HttpMethod }: { HttpMethod: string }) => HttpMethod !== "DELETE",
  );
  return template;
}

const smaller = withoutCancelOrder();

/** A reference to the one resource of a type whose logical id begins like this. */
function reference(which: Which) {
  return { Ref: one(deployedTemplate, ...which).id };
}

const stopsFor = (change: (next: Template) => unknown) => findingsOf(change).length > 0;

test.each([
  [257, false],
  [256, true],
  [2047, false],
  [2048, true],
  [0, true],
  [undefined, true],
])("memory of 512 MB that becomes %s stops a deployment: %s", (memory, stops) => {
  expect(stopsFor(set(["Lambda::Function", "CancelOrder"], "MemorySize", memory))).toBe(stops);
});

const methodSettings = "Api/Rest/DeploymentStage.v1.MethodSettings=DIGEST";

describe("one finding covers", () => {
  test("an operation that is added, beside its limits", () => {
    const names = namesOf(findingsBetween(smaller, deployedTemplate));
    expect(names).toEqual([methodSettings, "added:CancelOrder@DIGEST"]);
  });

  test("an operation that is removed, beside its limits, its log and the alarm of its table", () => {
    expect(namesOf(findingsBetween(deployedTemplate, smaller)).sort()).toEqual([
      methodSettings,
      "removed:Alarms/CancelOrderTableThrottled@DIGEST",
      "removed:CancelOrder@DIGEST",
      "removed:CancelOrderLog@DIGEST",
    ]);
  });

  test.each([
    ["come", "added:Alarms/Topic@DIGEST"],
    ["go", "removed:Alarms/Topic@DIGEST"],
  ])("the alarms that %s, with their topic and the canary", (direction, name) => {
    const { alarms: _, ...unwatched } = settings;
    const [was, is] = direction === "go" ? [settings, unwatched] : [unwatched, settings];
    expect(foundBetween(was, is)).toEqual([name]);
  });

  test("equal changes of one type", () => {
    const boundary = { ...settings, permissionsBoundary: "other" };
    const value = "arn:{AWS::Partition}:iam::111111111111:policy/other";
    const name = `IAM::Role.PermissionsBoundary=${value}@DIGEST`;
    expect(foundBetween(settings, boundary)).toEqual([name]);
  });

  test("a tag that disappears from resources of one type", () => {
    const { team: _, ...tags } = everyOption.tags;
    const names = foundBetween(settings, { ...settings, tags });
    expect(names).toContain("DynamoDB::Table.Tags.team=unset@DIGEST");
    expect(names.every((name) => name.includes(".Tags.team=unset"))).toBe(true);
  });
});

describe("the name of a group", () => {
  const cancelRole: Which = ["IAM::Policy", "CancelOrderRole"];
  const nameAfter = (change: (next: Template) => unknown) => {
    const next = structuredClone(deployedTemplate);
    change(next);
    return findingsBetween(smaller, next).find(({ name }) => name.startsWith("added:CancelOrder@"));
  };
  const accepted = nameAfter(() => {})?.name;

  test("changes with anything that the group covers", () => {
    const change = set(cancelRole, "PolicyDocument.Statement.1.Action", "dynamodb:*");
    expect(nameAfter(change)?.name).not.toBe(accepted);
  });

  test("stays when only the code does not", () => {
    const change = set(["Lambda::Function", "CancelOrder"], "Code.S3Key", "new.zip");
    expect(nameAfter(change)?.name).toBe(accepted);
  });
});

describe("beside an added operation, a name of its own has", () => {
  const cancelOrder: Which = ["Lambda::Function", "CancelOrder"];
  const route = "Api/Rest/Default/store/orders/{orderId}/DELETE";
  const permission = { Action: "lambda:InvokeFunction", FunctionName: reference(cancelOrder) };
  test.each<[string, (next: Template) => unknown, Finding]>([
    [
      "its open route",
      set(["ApiGateway::Method", "ApiReststoreordersorderIdDELETE"], "AuthorizationType", "NONE"),
      {
        name: `added:${route}@DIGEST`,
        text: expect.stringContaining(`${route}: a new ApiGateway::Method, AuthorizationType NONE`),
      },
    ],
    [
      "a public address",
      add("Address", {
        Type: "AWS::Lambda::Url",
        Properties: { TargetFunctionArn: reference(cancelOrder), AuthType: "NONE" },
      }),
      { name: "added:Address@DIGEST", text: "Address: a new Lambda::Url, AuthType NONE" },
    ],
    [
      "another account that may call it",
      add("Other", {
        Type: "AWS::Lambda::Permission",
        Properties: { ...permission, Principal: "444444444444" },
      }),
      {
        name: "added:Other@DIGEST",
        text: "Other: a new Lambda::Permission, Allow 444444444444 lambda:InvokeFunction on {CancelOrder}",
      },
    ],
  ])("%s", (_, change, finding) => {
    const next = structuredClone(deployedTemplate);
    change(next);
    const findings = findingsBetween(smaller, next);
    const names = namesOf(findings);
    const masked = findings.map(({ text }, index) => ({ name: names[index], text }));
    expect(masked).toContainEqual({ name: "added:CancelOrder@DIGEST", text: expect.any(String) });
    expect(masked).toContainEqual(finding);
  });
});

describe("a finding says", () => {
  const [, operation] = findingsBetween(smaller, deployedTemplate);
  const policy: Which = ["IAM::Policy", "CancelOrderRole"];
  const textsOf = (findings: Finding[]) => findings.map(({ text }) => text);

  test("what the role of an added operation may do", () => {
    expect(operation?.text).toContain(
      "Allow {CancelOrderRole} dynamodb:UpdateItem on {Orders.Arn}",
    );
  });

  test("what authorizes the route of an added operation", () => {
    expect(operation?.text).toContain(
      "/DELETE: a new ApiGateway::Method, AuthorizationType CUSTOM",
    );
  });

  test("who may write orders, and all that they may do", () => {
    const { writerAccounts: _, ...own } = settings;
    const [finding] = findingsBetween(synthesised(own), synthesised(settings));
    expect(finding?.text).toContain(
      "Allow AWS 222222222222 dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem on *",
    );
  });

  test("each statement of a policy that comes and goes, whole", () => {
    const action = set(policy, "PolicyDocument.Statement.1.Action", ["dynamodb:Scan", "s3:*"]);
    expect(textsOf(findingsOf(action))).toEqual([
      "gains Allow {CancelOrderRole} dynamodb:Scan, s3:* on {Orders.Arn}; " +
        "loses Allow {CancelOrderRole} dynamodb:UpdateItem on {Orders.Arn}",
    ]);
  });

  test.each([
    [
      { NotAction: "iam:*", NotResource: "*" },
      "Allow {CancelOrderRole} anything on anything, NotAction iam:*, NotResource *",
    ],
    [
      { Action: "s3:*", NotPrincipal: { AWS: "1" }, Condition: { Bool: { "aws:MFA": true } } },
      "Allow anyone s3:* on itself, NotPrincipal AWS 1, Condition Bool aws:MFA true",
    ],
  ])("what else a statement says: %j", (statement, text) => {
    const change = push(policy, "PolicyDocument.Statement", { Effect: "Allow", ...statement });
    expect(textsOf(findingsOf(change))).toEqual([`gains ${text}`]);
  });

  test("what is kept and deleted", () => {
    const texts = textsOf(findingsBetween(deployedTemplate, smaller)).join("; ");
    expect(texts).toContain("CancelOrderLog: Logs::LogGroup leaves the stack, but is kept");
    expect(texts).toContain("CancelOrder: Lambda::Function is deleted");
  });

  test("that termination protection is turned off", () => {
    const deployed = { template: deployedTemplate, terminationProtection: true };
    const next = { template: deployedTemplate, terminationProtection: false };
    const names = findChanges(deployed, next).map(({ name }) => name);
    expect(names).toEqual(["termination-protection"]);
    expect(findChanges(next, next)).toEqual([]);
  });
});

test("a finding's name is safe inside a shell's quotes", () => {
  const names = stoppingChanges.flatMap(({ change }) => findingsOf(change)).map(({ name }) => name);
  expect(names.filter((name) => !/^[\w.:/*@{}+=,-]+$/.test(name))).toEqual([]);
});
