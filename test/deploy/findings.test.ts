import { describe, expect, test } from "vitest";
import { findChanges } from "../../infra/deploy/findings.ts";
import type { Place, Template } from "../../infra/deploy/template.ts";
import type { Environment } from "../../infra/environments.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { ordinaryChanges, slowAlarm } from "./ordinary-changes.ts";
import { set, unset } from "./stopping/change.ts";
import { stoppingChanges } from "./stopping/stopping-changes.ts";
import { deployedTemplate, one, settings, synthesised } from "./templates.ts";

const place: Place = { account: "111111111111", region: "eu-central-1" };

/** The names of the findings when a template changes like this. */
function found(change: (next: Template) => unknown, template = deployedTemplate): string[] {
  const next = structuredClone(template);
  change(next);
  return findChanges({ template }, { template: next }, place).map(({ name }) => name);
}

/** The names of the findings when an environment's settings change. */
function foundBetween(was: Environment, is: Environment): string[] {
  const before = { template: synthesised(was) };
  return findChanges(before, { template: synthesised(is) }, place).map(({ name }) => name);
}

describe("a deployment stops when", () => {
  for (const { title, change, names } of stoppingChanges) {
    test(title, () => {
      expect(found(change)).toEqual(names);
    });
  }
});

describe("a deployment does not stop for", () => {
  test.each(ordinaryChanges)("%s", (_, change) => {
    expect(found(change)).toEqual([]);
  });

  test.each([
    ["a permissions boundary", unset(["IAM::Role", "CancelOrderRole"], "PermissionsBoundary")],
    ["a notification when an alarm is over", unset(slowAlarm, "OKActions")],
    [
      "point-in-time recovery",
      unset(["DynamoDB::Table", "Orders"], "PointInTimeRecoverySpecification"),
    ],
  ])("%s that was not set before", (_, unsetIt) => {
    const before = structuredClone(deployedTemplate);
    unsetIt(before);
    expect(findChanges({ template: before }, { template: deployedTemplate }, place)).toEqual([]);
  });

  const { alarms, dashboard: _dashboard, listConcurrency: _concurrency, ...rest } = everyOption;
  const otherNumbers: Environment = {
    ...rest,
    tags: { team: "others" },
    tableThroughput: { reads: 1, writes: 1 },
    throttling: { ...everyOption.throttling, listOrders: { rateLimit: 1, burstLimit: 1 } },
    listConcurrency: 1,
    logRetentionDays: 731,
    accessLogRetentionDays: 731,
    functionLogLevel: "DEBUG",
    systemLogLevel: "INFO",
    alarms: { ...alarms, functionFailures: { percent: 6, atLeast: 9 }, listsCutOff: 9 },
  };
  const { account: _account, ...unpinned } = settings;
  const { alarms: _alarms, ...unwatched } = settings;
  const { email: _email, ...quiet } = alarms;
  const unkept: Environment = { ...settings, keepData: false };
  const plain: Environment = { ...settings, dashboard: false };
  test.each<[string, Environment, Environment]>([
    ["other numbers, log levels, tags and no dashboard", everyOption, otherNumbers],
    ["an account that is pinned to where the stack is", unpinned, settings],
    ["an account that is no longer pinned", settings, unpinned],
    ["alarms that notify no one yet", unwatched, { ...unwatched, alarms: quiet }],
    ["data that is kept from now on", unkept, settings],
    ["a dashboard that is added", plain, settings],
    ["a stream that is switched on", { ...settings, ordersStream: false }, settings],
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
    expect(names(withCanary, without)).toEqual(["canary-removed"]);
  });

  test("stops a deployment when it does not return", () => {
    expect(names(once, without)).toEqual(["canary-removed"]);
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

const smaller = { template: withoutCancelOrder() };
const whole = { template: deployedTemplate };

describe("one finding covers", () => {
  test("an operation that is added", () => {
    const names = findChanges(smaller, whole, place).map(({ name }) => name);
    expect(names).toEqual(["operation-added:CancelOrder"]);
  });

  test("an operation that is removed", () => {
    const names = findChanges(whole, smaller, place).map(({ name }) => name);
    expect(names).toEqual(["operation-removed:CancelOrder"]);
  });

  test("the alarms, with their topic and the canary", () => {
    const { alarms: _, ...unwatched } = settings;
    expect(foundBetween(settings, unwatched)).toEqual(["alarms-removed"]);
  });

  test("each restored table that comes into use", () => {
    const restored: Environment = {
      ...settings,
      restoredTables: { orders: "NEW", apiKeys: "NEWER" },
    };
    expect(foundBetween(settings, restored)).toEqual(["orders-table-in-use", "keys-table-in-use"]);
  });

  test("a restored table that replaces another one", () => {
    const restored: Environment = { ...settings, restoredTables: { orders: "NEW" } };
    const again = { restoredTables: { orders: "NEWER" }, formerTables: { orders: "NEW" } };
    expect(foundBetween(restored, { ...settings, ...again })).toEqual(["orders-table-in-use"]);
  });

  test("a former table that leaves the stack", () => {
    const former: Environment = { ...settings, formerTables: { orders: "OLD" } };
    const next = { template: synthesised(settings) };
    expect(findChanges({ template: synthesised(former) }, next, place)).toEqual([
      { name: "removed:Restored-OLD", text: "leaves the stack, but is kept" },
    ]);
  });
});

describe("a finding", () => {
  test("says what the role of an added operation may do", () => {
    const log = "CancelOrderLog.Arn";
    const allowed = [
      `logs:CreateLogStream on ${log}`,
      `logs:PutLogEvents on ${log}`,
      "dynamodb:UpdateItem on Orders.Arn",
    ];
    expect(findChanges(smaller, whole, place)[0]?.text).toBe(
      `its route has the authorizer; its role is allowed ${allowed.join(", ")}`,
    );
  });

  test("counts what is kept and deleted of a removed operation", () => {
    expect(findChanges(whole, smaller, place)[0]?.text).toMatch(
      /^kept: 1 Logs::LogGroup; deleted: 1 IAM::Role, 1 Lambda::Function, /,
    );
  });

  test("names the route of an added operation separately if it has no authorizer", () => {
    const next = structuredClone(deployedTemplate);
    set(
      ["ApiGateway::Method", "ApiReststoreordersorderIdDELETE"],
      "AuthorizationType",
      "NONE",
    )(next);
    const found = findChanges(smaller, { template: next }, place);
    const open = "added:Api/Rest/Default/store/orders/{orderId}/DELETE";
    expect(found).toContainEqual({ name: open, text: "open to anyone" });
  });

  test("says that a change of TLS must be deployed alone", () => {
    const next = structuredClone(deployedTemplate);
    one(next, "ApiGateway::RestApi").properties["SecurityPolicy"] = "OTHER";
    expect(findChanges({ template: deployedTemplate }, { template: next }, place)).toEqual([
      { name: "tls", text: expect.stringMatching(/^Api\/Rest: deploy it alone.* becomes OTHER$/) },
    ]);
  });

  test("names termination protection that is turned off", () => {
    const deployed = { ...whole, terminationProtection: true };
    const found = findChanges(deployed, { ...whole, terminationProtection: false });
    expect(found.map(({ name }) => name)).toEqual(["termination-protection"]);
  });

  test("says nothing of termination protection that the stack never had", () => {
    const stack = { ...whole, terminationProtection: false };
    expect(findChanges(stack, stack)).toEqual([]);
  });

  test("has a name that is safe inside a shell's quotes", () => {
    const names = stoppingChanges.flatMap(({ change }) => found(change));
    expect(names.filter((name) => !/^[\w.:/*@{}+=,-]+$/.test(name))).toEqual([]);
  });
});
