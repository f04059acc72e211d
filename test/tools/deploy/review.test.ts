import { describe, expect, test } from "vitest";
import type { Environment } from "../../../infra/environments.ts";
import { operations } from "../../../infra/stack/function-list.ts";
import {
  constructPath,
  type Template,
} from "../../../infra/tools/deploy/compare-templates.ts";
import { review } from "../../../infra/tools/deploy/review.ts";
import { everyOption } from "../../helpers/fixture-environments.ts";
import { stoppingChanges } from "./stopping-changes.ts";
import {
  at,
  type Change,
  cancelRoute,
  changed,
  codeKey,
  deployedTemplate,
  linesBetween,
  linesOf,
  push,
  reviewBetween,
  set,
  synthesised,
} from "./templates.ts";

test.each(stoppingChanges)("a deployment stops when %s", (_, change, ...texts) => {
  expect(linesOf(change)).toEqual(texts.map((text) => expect.stringContaining(text)));
});

test.each([
  ["xray:PutTraceSegments", false],
  [["xray:PutTraceSegments", "s3:*"], true],
  ["*:*", true],
])("a grant of %j on everything is marked: %s", (Action, isMarked) => {
  const statements = "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement";
  const [line] = linesOf(push(statements, { Effect: "Allow", Action, Resource: "*" }));
  expect(line?.startsWith("! ")).toBe(isMarked);
});

const { account: _account, ...unpinned } = everyOption;
const quieter: Environment = {
  ...everyOption,
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

const denial = { Effect: "Deny", Action: "*", Principal: "*", Resource: "*" };
const denying = changed(set("Orders.ResourcePolicy", { Statement: [denial] }));

test.each([
  ["other log levels and no dashboard: nothing", deployedTemplate, synthesised(quieter)],
  [
    "an account that is pinned to where the stack is: nothing",
    synthesised(unpinned),
    deployedTemplate,
  ],
  ["data that is kept from now on, and a dashboard: nothing", unkept, deployedTemplate],
  ...[deployedTemplate, unkept].map(
    (template): [string, Template, Template, ...string[]] => [
      "tables with another key, even if they keep no data: those, first",
      template,
      changed(replaceTables, template),
      "! ApiKeys: KeySchema.0.AttributeName: keyHash becomes key, and a new resource replaces it",
      "! Orders: KeySchema.0.AttributeName: id becomes key, and a new resource replaces it",
    ],
  ),
  ["no canary for one deployment, as the alias says: nothing", canary, skipped],
  ["no canary for a second deployment: nothing", skipped, skippedAgain],
  ["a canary that returns: nothing", skipped, canary],
  [
    "a canary that goes: that",
    canary,
    noCanary,
    '  Alias: UpdatePolicy: {"CodeDeployLambdaAliasUpdate":{"ApplicationName":"a"}} becomes unset',
  ],
  [
    "a canary that does not return: that",
    skipped,
    noCanary,
    "  Alias: UpdatePolicy: skipped once becomes unset",
  ],
  [
    "a denial that goes: that, as a door that opens",
    denying,
    changed(set("Orders.ResourcePolicy", undefined), denying),
    '! Orders: ResourcePolicy: {"Statement":["Deny Principal *, Action *, Resource *"]} becomes unset',
  ],
])("what stops a deployment with %s", (_, was, is, ...lines) => {
  expect(linesBetween(was, is)).toEqual(lines);
});

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

const addition = linesBetween(smaller, deployedTemplate);
const removal = linesBetween(deployedTemplate, smaller);

test("an operation that is added has lines for its limits, its grants, its key and its code's settings", () => {
  expect(addition).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^ {2}Api\/Rest\/DeploymentStage.v1: MethodSettings: gains/),
      expect.stringContaining(
        "Allow Principal <CancelOrderRole28771C3D>, Action dynamodb:UpdateItem, Resource <OrdersA9B65338.Arn>",
      ),
      expect.stringMatching(
        `  ${cancelRoute}: a new ApiGateway::Method; AuthorizationType CUSTOM;`,
      ),
      expect.stringMatching(/^ {2}CancelOrder: a new Lambda::Function;.* Environment\./),
    ]),
  );
});

test("an operation that is removed begins with what outlives it, and equal ends share a line", () => {
  expect(removal[0]).toBe(
    "! CancelOrderLog: Logs::LogGroup leaves the stack, but is kept",
  );
  expect(removal).toContain(
    `  ${cancelRoute.replace("DELETE", "ANY")}, ${cancelRoute}: ApiGateway::Method is deleted`,
  );
});

describe("the digest", () => {
  const digest = (...templates: [Template, Template]) =>
    reviewBetween(...templates).map(({ word }) => word);
  const action = "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement.1.Action";
  const wider = changed(set(action, "dynamodb:*"));
  const memory = (size: number) => changed(set("CancelOrder.MemorySize", size));
  const layers = (...list: string[]) => changed(set("CancelOrder.Layers", list));

  test.each<[what: string, one: [Template, Template], other: [Template, Template]]>([
    ["grant that is added", [smaller, deployedTemplate], [smaller, wider]],
    ["grant that is removed", [deployedTemplate, smaller], [wider, smaller]],
    [
      "value, though empty, of what is added",
      [smaller, deployedTemplate],
      [smaller, changed(set("CancelOrder.VpcConfig", {}))],
    ],
    ["value that goes", [memory(9), deployedTemplate], [memory(8), deployedTemplate]],
    [
      "order of a list that grows",
      [layers("a", "b"), layers("a", "b", "c")],
      [layers("a", "b"), layers("b", "a", "c")],
    ],
  ])("is another one for another %s", (_, one, other) => {
    expect(digest(...one)).not.toEqual(digest(...other));
  });

  test("is the same with other code, alarms and texts", () => {
    const newer = changed((next) => {
      set("CancelOrder.Code.S3Key", codeKey(99))(next);
      set("CancelOrder.Description", "new")(next);
      set("Alarms/CancelSlow.Threshold", 2001)(next);
    });
    expect(digest(smaller, newer)).toEqual(digest(smaller, deployedTemplate));
  });
});

test("what may be replaced counts as replaced, and what is kept as kept", () => {
  const instance = (InstanceType: string, DeletionPolicy = "Retain"): Template => {
    const Type = "AWS::EC2::Instance";
    const I = { Type, DeletionPolicy, Properties: { InstanceType } };
    return { Resources: { I } };
  };
  for (const policy of ["Retain", "RetainExceptOnCreate"])
    expect(linesBetween(instance("a", policy), { Resources: {} }).join()).toContain(
      "leaves the stack, but is kept",
    );
  expect(linesBetween(instance("a"), instance("b"))).toEqual([
    "! I: InstanceType: a becomes b, and a new resource replaces it",
  ]);
});

test("termination protection that stays on, or begins, needs no one's consent", () => {
  const stack = { template: deployedTemplate, terminationProtection: true };
  for (const terminationProtection of [true, false])
    expect(review({ ...stack, terminationProtection }, stack)).toEqual([]);
});
