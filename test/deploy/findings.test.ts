import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Finding, findChanges } from "../../infra/deploy/changes-to-accept.ts";
import { constructPath, type Template } from "../../infra/deploy/template.ts";
import type { Environment } from "../../infra/environments.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { directory, run, synthesise, useCommands } from "./command.ts";
import { ordinaryChanges } from "./ordinary-changes.ts";
import { stoppingChanges } from "./stopping/stopping-changes.ts";
import {
  add,
  at,
  type Change,
  deployedTemplate,
  push,
  reference,
  set,
  settings,
  synthesised,
} from "./templates.ts";

const place = { id: "111111111111", region: "eu-central-1" };

const findingsBetween = (was: Template, is: Template) =>
  findChanges({ template: was }, { template: is }, place);

function changed(change: Change): Template {
  const next = structuredClone(deployedTemplate);
  change(next);
  return next;
}

/** The findings when the deployed template changes like this. */
const findingsOf = (change: Change) => findingsBetween(deployedTemplate, changed(change));

const withoutDigest = (name: string) => name.replace(/([@=])[\da-f]{12}$/, "$1DIGEST");
const namesOf = (findings: Finding[]) => findings.map(({ name }) => withoutDigest(name));

/** The names of the findings when an environment's settings change. */
const foundBetween = (was: Environment, is: Environment) =>
  namesOf(findingsBetween(synthesised(was), synthesised(is)));

describe("a deployment stops, until the names that it prints are accepted, when", () => {
  useCommands();
  const file = join(directory, "deployed.json");
  writeFileSync(file, JSON.stringify(deployedTemplate));
  const words = ["compare", "pinned", "--app", directory, "--template", file];

  test.each(stoppingChanges)("$title", async ({ change, names }) => {
    synthesise(changed(change));
    const text = await run(...words);
    const found = [...text.matchAll(/^STOP {2}(\S+) {2}/gm)].map(([, name]) => name);
    expect(found.map((name) => withoutDigest(String(name)))).toEqual(names);
    const [, accept = ""] = /--accept "([\w.:/*@{}+=, -]+)"\nexit code 1$/.exec(text) ?? [];
    expect(await run(...words, "--accept", accept)).toMatch(/exit code 0$/);
  });
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
  test.each<[string, Environment, Environment]>([
    ["other numbers, log levels, tags and no dashboard", everyOption, otherNumbers],
    ["an account that is pinned to where the stack is", unpinned, settings],
    ["an account that is no longer pinned", settings, unpinned],
    ["data that is kept from now on", { ...settings, keepData: false }, settings],
    ["a dashboard that is added", { ...settings, dashboard: false }, settings],
  ])("%s", (_, was, is) => {
    expect(foundBetween(was, is)).toEqual([]);
  });
});

describe("the canary", () => {
  const alias = (Description: string, UpdatePolicy?: object): Template => ({
    Resources: {
      Alias: { Type: "AWS::Lambda::Alias", Properties: { Description }, UpdatePolicy },
    },
  });
  const canary = alias("", { CodeDeployLambdaAliasUpdate: { ApplicationName: "a" } });
  const once = alias("Set without a canary at 2026-11-24");
  const again = alias("Set without a canary at 2026-11-25");
  const without = alias("Set at 2026-11-24");
  const gone = ["Alias.UpdatePolicy=unset"];

  test.each<[string, Template, Template, string[]]>([
    ["may be left out for one deployment when the alias says so", canary, once, []],
    ["may be left out for two deployments in a row", once, again, []],
    ["may return afterwards", once, canary, []],
    ["stops a deployment when it goes", canary, without, gone],
    ["stops a deployment when it does not return", once, without, gone],
  ])("%s", (_, was, is, names) => {
    expect(namesOf(findingsBetween(was, is))).toEqual(names);
  });
});

test.each([
  [257, 0],
  [256, 1],
  [2047, 0],
  [2048, 1],
  [0, 1],
  [undefined, 1],
])("memory of 512 MB that becomes %s makes %i findings", (memory, count) => {
  expect(findingsOf(set("CancelOrder.MemorySize", memory))).toHaveLength(count);
});

const cancelRoute = "Api/Rest/Default/store/orders/{orderId}/DELETE";

/**
 * The template without all that belongs to cancellations. The path goes too, unless it serves
 * another operation.
 */
const smaller = changed((template) => {
  const paths = Object.entries(template.Resources).map((entry) => constructPath(...entry));
  const isShared = paths.some((path) => /\/\{orderId\}\/(?!DELETE|ANY)[A-Z]+$/.test(path));
  const own = isShared ? /Cancel|\/\{orderId\}\/DELETE/ : /Cancel|\/\{orderId\}/;
  for (const path of paths)
    if (own.test(path)) delete template.Resources[at(template, path).id];
  const { properties } = at(template, "Api/Rest/DeploymentStage.v1");
  properties["MethodSettings"] = properties["MethodSettings"].filter(
    ({ HttpMethod }: { HttpMethod: string }) => HttpMethod !== "DELETE",
  );
});

const methodSettings = "Api/Rest/DeploymentStage.v1.MethodSettings=DIGEST";

describe("one finding covers", () => {
  test("an operation that is added, beside its limits, with its grants and its key", () => {
    const findings = findingsBetween(smaller, deployedTemplate);
    expect(namesOf(findings)).toEqual([methodSettings, "added:CancelOrder@DIGEST"]);
    expect(findings[1]?.text).toContain(
      "Allow Principal {CancelOrderRole}, Action dynamodb:UpdateItem, Resource {Orders.Arn}",
    );
    expect(findings[1]?.text).toContain(
      `${cancelRoute}: a new ApiGateway::Method, AuthorizationType CUSTOM`,
    );
  });

  test("an operation that is removed, beside its limits, log and table alarm", () => {
    const findings = findingsBetween(deployedTemplate, smaller);
    expect(namesOf(findings).sort()).toEqual([
      methodSettings,
      "removed:Alarms/CancelOrderTableThrottled@DIGEST",
      "removed:CancelOrder@DIGEST",
      "removed:CancelOrderLog@DIGEST",
      "removed:LogMetrics/CancelOrderResponses@DIGEST",
      "removed:LogMetrics/CancelOrderServerErrors@DIGEST",
    ]);
    const texts = findings.flatMap(({ text }) => text.split("; "));
    expect(texts).toContain("CancelOrderLog: Logs::LogGroup leaves the stack, but is kept");
    expect(texts).toContain("CancelOrder: Lambda::Function is deleted");
  });

  const { alarms: _, ...unwatched } = settings;
  const { team: _team, ...tags } = everyOption.tags;
  const boundary = "arn:{AWS::Partition}:iam::111111111111:policy/other";
  test.each<[string, Environment, Environment, string]>([
    [
      "the alarms that come, with their topic and the canary",
      unwatched,
      settings,
      "added:Alarms/Topic@DIGEST",
    ],
    [
      "the alarms that go, with their topic and the canary",
      settings,
      unwatched,
      "removed:Alarms/Topic@DIGEST",
    ],
    [
      "equal changes of one type",
      settings,
      { ...settings, permissionsBoundary: "other" },
      `IAM::Role.PermissionsBoundary=${boundary}@DIGEST`,
    ],
  ])("%s", (_, was, is, name) => {
    expect(foundBetween(was, is)).toEqual([name]);
  });

  test("a tag that disappears from resources of one type", () => {
    const names = foundBetween(settings, { ...settings, tags });
    expect(names).toContain("DynamoDB::Table.Tags.team=unset@DIGEST");
    expect(names.every((name) => name.includes(".Tags.team=unset"))).toBe(true);
  });
});

test("a group has another name when anything but its code changes", () => {
  const nameAfter = (change: Change) => findingsBetween(smaller, changed(change))[1]?.name;
  const name = nameAfter(() => {});
  const action = "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement.1.Action";
  expect(nameAfter(set(action, "dynamodb:*"))).not.toBe(name);
  const namesOfRemoval = (change: Change) =>
    findingsBetween(changed(change), smaller).flatMap(({ name }) =>
      name.startsWith("removed:CancelOrder@") ? [name] : [],
    );
  expect(namesOfRemoval(() => {})).toHaveLength(1);
  expect(namesOfRemoval(set(action, "dynamodb:*"))).not.toEqual(namesOfRemoval(() => {}));
  expect(nameAfter(set("CancelOrder.Code.S3Key", "new.zip"))).toBe(name);
});

describe("beside an added operation, a name of its own has", () => {
  const cancelOrder = reference(deployedTemplate, "CancelOrder");
  const permission = { Action: "lambda:InvokeFunction", FunctionName: cancelOrder };
  test.each<[string, Change, string, unknown]>([
    [
      "its open route",
      set(`${cancelRoute}.AuthorizationType`, "NONE"),
      `added:${cancelRoute}@DIGEST`,
      expect.stringContaining(
        `${cancelRoute}: a new ApiGateway::Method, AuthorizationType NONE`,
      ),
    ],
    [
      "a public address",
      add("Address", "Lambda::Url", { TargetFunctionArn: cancelOrder, AuthType: "NONE" }),
      "added:Address@DIGEST",
      "Address: a new Lambda::Url, AuthType NONE",
    ],
    [
      "another account that may call it",
      add("Other", "Lambda::Permission", { ...permission, Principal: "444444444444" }),
      "added:Other@DIGEST",
      "Other: a new Lambda::Permission, Allow Principal 444444444444, Action lambda:InvokeFunction, FunctionName {CancelOrder}",
    ],
    [
      "a policy for everyone but one account",
      add("Own", "SQS::QueuePolicy", {
        PolicyDocument: {
          Statement: { Effect: "Allow", NotPrincipal: { AWS: "1" }, Resource: cancelOrder },
        },
      }),
      "added:Own@DIGEST",
      "Own: a new SQS::QueuePolicy, Allow NotPrincipal AWS 1, Resource {CancelOrder}",
    ],
  ])("%s", (_, change, name, text) => {
    const findings = findingsBetween(smaller, changed(change));
    const masked = findings.map((finding) => ({
      ...finding,
      name: withoutDigest(finding.name),
    }));
    expect(masked).toContainEqual({
      name: "added:CancelOrder@DIGEST",
      text: expect.any(String),
    });
    expect(masked).toContainEqual({ name, text });
  });
});

describe("a finding says", () => {
  const statements = "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement";

  test("who may write orders, and all that they may do", () => {
    const { writerAccounts: _, ...own } = settings;
    const [finding] = findingsBetween(synthesised(own), synthesised(settings));
    expect(finding?.text).toContain(
      "Allow Principal AWS 222222222222, Action dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem, Resource *",
    );
  });

  test.each([
    [
      "each statement of a policy that comes and goes, whole",
      set(`${statements}.1.Action`, ["dynamodb:Scan", "s3:*"]),
      "gains Allow Principal {CancelOrderRole}, Action dynamodb:Scan, s3:*, Resource {Orders.Arn}; " +
        "loses Allow Principal {CancelOrderRole}, Action dynamodb:UpdateItem, Resource {Orders.Arn}",
    ],
    [
      "which other resources a new one names",
      add("Own", "Logs::LogGroup", {
        KmsKeyId: "arn:aws:kms:eu-central-1:444444444444:key/x",
      }),
      "Own: a new Logs::LogGroup, arn:aws:kms:eu-central-1:444444444444:key/x",
    ],
    [
      "what a statement leaves out",
      push(statements, { Effect: "Allow", NotAction: "iam:*", NotResource: "*" }),
      "gains Allow Principal {CancelOrderRole}, NotAction iam:*, NotResource *",
    ],
    [
      "who is left out, and on which condition",
      push(statements, {
        Effect: "Allow",
        Action: "s3:*",
        NotPrincipal: { AWS: "1" },
        Condition: { Bool: { "aws:MFA": true } },
      }),
      "gains Allow Action s3:*, NotPrincipal AWS 1, Condition Bool aws:MFA true",
    ],
  ])("%s", (_, change, text) => {
    expect(findingsOf(change).map((finding) => finding.text)).toEqual([text]);
  });
});

test("termination protection that is turned off is a finding", () => {
  const next = { template: deployedTemplate, terminationProtection: false };
  expect(findChanges({ ...next, terminationProtection: true }, next)).toEqual([
    { name: "termination-protection", text: "the stack can then be deleted" },
  ]);
  expect(findChanges(next, next)).toEqual([]);
});
