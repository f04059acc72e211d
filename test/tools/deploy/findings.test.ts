import { describe, expect, test } from "vitest";
import type { Environment } from "../../../infra/environments.ts";
import { operations } from "../../../infra/stack/function-list.ts";
import { constructPath, type Template } from "../../../infra/tools/deploy/changes.ts";
import { findChanges, findingName } from "../../../infra/tools/deploy/findings.ts";
import { everyOption } from "../../helpers/fixture-environments.ts";
import { stoppingChanges } from "./stopping-changes.ts";
import {
  add,
  at,
  type Change,
  changed,
  deployedTemplate,
  findingsBetween,
  findingsOf,
  push,
  reference,
  set,
  synthesised,
} from "./templates.ts";

/** Without digests. Each is one word for a shell. */
function namesOf(findings: { name: string }[]) {
  const names = findings.map(({ name }) => name);
  expect(names).toEqual(names.map(findingName));
  return names.map((name) => name.replace(/([@=])[\da-f]{12}$/, "$1DIGEST"));
}

test.each(stoppingChanges)("a deployment stops when %s", (_, change, ...names) => {
  expect(namesOf(findingsOf(change))).toEqual(names);
});

const { account: _account, ...unpinned } = everyOption;
const { alarms: _alarms, ...unwatched } = everyOption;
const quieter: Environment = {
  ...everyOption,
  tags: { ...everyOption.tags, team: "others", another: "1" },
  functionLogLevel: "DEBUG",
  systemLogLevel: "INFO",
  dashboard: false,
};

const unkept = synthesised({ ...everyOption, keepData: false, dashboard: false });
const replaceTables: Change = (next) => {
  for (const path of ["Orders", "ApiKeys"])
    set(`${path}.KeySchema.0.AttributeName`, "key")(next);
};

const alias = (Description: string, UpdatePolicy?: object): Template => ({
  Resources: {
    Alias: { Type: "AWS::Lambda::Alias", Properties: { Description }, UpdatePolicy },
  },
});
const canary = alias("", { CodeDeployLambdaAliasUpdate: { ApplicationName: "a" } });
const skipped = alias("Set without a canary at 2026-11-24");
const skippedAgain = alias("Set without a canary at 2026-11-25");
const noCanary = alias("Set at 2026-11-24");

test.each<[what: string, was: Template, is: Template, ...names: string[]]>([
  [
    "other log levels, tags and no dashboard: nothing",
    deployedTemplate,
    synthesised(quieter),
  ],
  [
    "an account that is pinned to where the stack is: nothing",
    synthesised(unpinned),
    deployedTemplate,
  ],
  ["data that is kept from now on, and a dashboard: nothing", unkept, deployedTemplate],
  ...[deployedTemplate, unkept].map(
    (template): [string, Template, Template, ...string[]] => [
      "tables with another key, even if they keep no data: each table",
      template,
      changed(replaceTables, template),
      "replaced:Orders.KeySchema.0.AttributeName=key",
      "replaced:ApiKeys.KeySchema.0.AttributeName=key",
    ],
  ),
  [
    "the first alarms: them, with their topic and the canary",
    synthesised(unwatched),
    deployedTemplate,
    "added:Alarms/Topic@DIGEST",
  ],
  [
    "no more alarms: them, with their topic and the canary",
    deployedTemplate,
    synthesised(unwatched),
    "removed:Alarms/Topic@DIGEST",
  ],
  ["no canary for one deployment, as the alias says: nothing", canary, skipped],
  ["no canary for a second deployment: nothing", skipped, skippedAgain],
  ["a canary that returns: nothing", skipped, canary],
  ["a canary that goes: that", canary, noCanary, "Alias.UpdatePolicy=unset"],
  ["a canary that does not return: that", skipped, noCanary, "Alias.UpdatePolicy=unset"],
])("what stops a deployment with %s", (_, was, is, ...names) => {
  expect(namesOf(findingsBetween(was, is))).toEqual(names);
});

const cancelRoute = "Api/Rest/Default/store/orders/{orderId}/DELETE";

/** Without cancellations. Their path goes too, unless it serves another operation. */
const smaller = changed((template) => {
  const onOrder = operations.filter(({ path }) => path.endsWith("/{orderId}"));
  const own =
    onOrder.length > 1 ? /Cancel|\/\{orderId\}\/DELETE/ : /Cancel|\/\{orderId\}/;
  for (const [id, resource] of Object.entries(template.Resources))
    if (own.test(constructPath(id, resource))) delete template.Resources[id];
  const { properties } = at(template, "Api/Rest/DeploymentStage.v1");
  properties["MethodSettings"] = properties["MethodSettings"].filter(
    ({ HttpMethod }: { HttpMethod: string }) => HttpMethod !== "DELETE",
  );
});

const methodSettings = "Api/Rest/DeploymentStage.v1.MethodSettings=DIGEST";
const addition = findingsBetween(smaller, deployedTemplate);
const removal = findingsBetween(deployedTemplate, smaller);

describe("an operation", () => {
  test("that is added is one finding beside its limits, with its grants and its key", () => {
    expect(namesOf(addition)).toEqual([methodSettings, "added:CancelOrder@DIGEST"]);
    for (const part of [
      "Allow Principal {CancelOrderRole}, Action dynamodb:UpdateItem, Resource {Orders.Arn}",
      `${cancelRoute}: a new ApiGateway::Method, AuthorizationType CUSTOM`,
    ])
      expect(addition[1]?.text).toContain(part);
  });

  test("that is removed is one finding beside its limits, log, metrics and table alarm", () => {
    expect(namesOf(removal).sort()).toEqual([
      methodSettings,
      "removed:Alarms/CancelOrderTableThrottled@DIGEST",
      "removed:CancelOrder@DIGEST",
      "removed:CancelOrderLog@DIGEST",
      "removed:LogMetrics/CancelOrderResponses@DIGEST",
      "removed:LogMetrics/CancelOrderServerErrors@DIGEST",
    ]);
    expect(removal.flatMap(({ text }) => text.split("; "))).toEqual(
      expect.arrayContaining([
        "CancelOrderLog: Logs::LogGroup leaves the stack, but is kept",
        "CancelOrder: Lambda::Function is deleted",
      ]),
    );
  });

  const action = "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement.1.Action";
  const nameIn = (findings: typeof addition) =>
    findings.find(({ name }) => /:CancelOrder@/.test(name))?.name;

  test("has another name when anything of it is another", () => {
    const other = changed(set(action, "dynamodb:*"));
    const all = [addition, removal];
    all.push(findingsBetween(smaller, other), findingsBetween(other, smaller));
    expect(new Set(all.map(nameIn).filter(Boolean)).size).toBe(4);
  });

  test("has the same name with other code", () => {
    const newer = changed(set("CancelOrder.Code.S3Key", "new.zip"));
    expect(nameIn(findingsBetween(smaller, newer))).toBe(nameIn(addition));
  });
});

describe("beside an added operation, a name of its own has", () => {
  const cancelOrder = reference(deployedTemplate, "CancelOrder");
  const permission = { Action: "lambda:InvokeFunction", FunctionName: cancelOrder };
  const everyoneBut = {
    Effect: "Allow",
    NotPrincipal: { AWS: "1" },
    Resource: cancelOrder,
  };
  test.each<[string, Change, path: string, text: string]>([
    [
      "its open route",
      set(`${cancelRoute}.AuthorizationType`, "NONE"),
      cancelRoute,
      "ApiGateway::Method, AuthorizationType NONE, arn:",
    ],
    [
      "a public address",
      add("Own", "Lambda::Url", { TargetFunctionArn: cancelOrder, AuthType: "NONE" }),
      "Own",
      "Lambda::Url, AuthType NONE",
    ],
    [
      "another account that may call it",
      add("Own", "Lambda::Permission", { ...permission, Principal: "444444444444" }),
      "Own",
      "Lambda::Permission, Allow Principal 444444444444, Action lambda:InvokeFunction, FunctionName {CancelOrder}",
    ],
    [
      "a policy for everyone but one account",
      add("Own", "SQS::QueuePolicy", { PolicyDocument: { Statement: everyoneBut } }),
      "Own",
      "SQS::QueuePolicy, Allow NotPrincipal AWS 1, Resource {CancelOrder}",
    ],
  ])("%s", (_, change, path, text) => {
    const findings = findingsBetween(smaller, changed(change));
    const names = namesOf(findings);
    expect(names).toContain("added:CancelOrder@DIGEST");
    const own = findings[names.indexOf(`added:${path}@DIGEST`)];
    expect(own?.text).toMatch(`${path}: a new ${text}`);
  });
});

describe("a finding says", () => {
  const statements = "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement";

  test.each([
    [
      "each statement of a policy that comes and goes, whole",
      set(`${statements}.1.Action`, ["dynamodb:Scan", "s3:*"]),
      "gains Allow Principal {CancelOrderRole}, Action dynamodb:Scan, s3:*, Resource {Orders.Arn}; " +
        "loses Allow Principal {CancelOrderRole}, Action dynamodb:UpdateItem, Resource {Orders.Arn}",
    ],
    [
      "that a new resource replaces the old one",
      set("Orders.KeySchema.0.AttributeName", "key"),
      "id becomes key, and a new resource replaces it",
    ],
    [
      "which other resources a new one names",
      add("Own", "Logs::LogGroup", { KmsKeyId: "arn:aws:kms:eu-central-1:4:key/x" }),
      "Own: a new Logs::LogGroup, arn:aws:kms:eu-central-1:4:key/x",
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
    [
      "who may write orders, and all that they may do",
      set("Orders.ResourcePolicy", undefined),
      '{"PolicyDocument":{"Statement":["Allow Principal AWS 222222222222, ' +
        'Action dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem, Resource *"],' +
        '"Version":"2012-10-17"}} becomes unset',
    ],
  ])("%s", (_, change, text) => {
    expect(findingsOf(change).map((finding) => finding.text)).toEqual([text]);
  });
});

test("termination protection that stays on is no finding", () => {
  const stack = { template: deployedTemplate, terminationProtection: true };
  expect(findChanges(stack, stack)).toEqual([]);
});
