import { describe, expect, test } from "vitest";
import { findChanges } from "../../infra/deploy/findings.ts";
import type { Place, Template } from "../../infra/deploy/template.ts";
import type { Environment } from "../../infra/environments.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { stoppingChanges } from "./stopping/stopping-changes.ts";
import { deployedTemplate, one, settings, synthesised } from "./templates.ts";

const place: Place = { account: "111111111111", region: "eu-central-1" };

/** The names of what is found when a template changes like this. */
function found(change: (next: Template) => unknown, template = deployedTemplate): string[] {
  const next = structuredClone(template);
  change(next);
  return findChanges({ template }, { template: next }, place).map(({ name }) => name);
}

/** The names of what a change of settings is found to do. */
function foundBetween(was: Environment, is: Environment): string[] {
  const before = { template: synthesised(was) };
  return findChanges(before, { template: synthesised(is) }, place).map(({ name }) => name);
}

describe("a deployment stops when", () => {
  test.each(stoppingChanges)("$title", ({ change, names }) => {
    expect(found(change)).toEqual(names);
  });
});

describe("a deployment does not stop for", () => {
  test.each<[string, (next: Template) => unknown]>([
    [
      "new code",
      (next) => {
        const { properties } = one(next, "Lambda::Function", "CancelOrder");
        properties["Code"] = { ...properties["Code"], S3Key: "new" };
        const { id, properties: version } = one(next, "Lambda::Version", "CancelOrder");
        delete next.Resources[id];
        next.Resources["NewVersion"] = { Type: "AWS::Lambda::Version", Properties: version };
        const alias = one(next, "Lambda::Alias", "CancelOrder").properties;
        alias["FunctionVersion"] = { "Fn::GetAtt": ["NewVersion", "Version"] };
      },
    ],
    [
      "another deployment of the API",
      (next) => {
        const { id, properties: Properties } = one(next, "ApiGateway::Deployment");
        delete next.Resources[id];
        next.Resources["Newer"] = { Type: "AWS::ApiGateway::Deployment", Properties };
        one(next, "ApiGateway::Stage").properties["DeploymentId"] = { Ref: "Newer" };
      },
    ],
    [
      "an added variable",
      (next) => {
        const { properties } = one(next, "Lambda::Function", "CancelOrder");
        properties["Environment"].Variables.LEVEL = "1";
      },
    ],
    [
      "another error text",
      (next) => {
        const { properties } = one(next, "ApiGateway::GatewayResponse", "ApiRestUNAUTHORIZED");
        properties["ResponseTemplates"] = {
          "application/json": '{"code":"unauthorized","message":"Another","status":401}',
        };
      },
    ],
    [
      "a new alarm, by which its function is rolled back",
      (next) => {
        const { properties } = one(next, "CloudWatch::Alarm", "AlarmsCancelSlow");
        next.Resources["NewAlarm"] = { Type: "AWS::CloudWatch::Alarm", Properties: properties };
        const group = one(next, "CodeDeploy::DeploymentGroup", "RolloutCancelOrder").properties;
        group["AlarmConfiguration"].Alarms.push({ Name: { Ref: "NewAlarm" } });
      },
    ],
    [
      "a new metric filter",
      (next) => {
        const { properties } = one(next, "Logs::MetricFilter", "LogMetricsOrdersListed");
        next.Resources["New"] = { Type: "AWS::Logs::MetricFilter", Properties: properties };
      },
    ],
    ["a new output", ({ Outputs = {} }) => Object.assign(Outputs, { Own: { Value: "1" } })],
  ])("%s", (_, change) => {
    expect(found(change)).toEqual([]);
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
  test.each<[string, Environment, Environment]>([
    ["other numbers, log levels, tags and no dashboard", everyOption, otherNumbers],
    ["an account that is pinned to where the stack is", unpinned, settings],
    ["an account that is no longer pinned", settings, unpinned],
    ["alarms that tell no one yet", unwatched, { ...unwatched, alarms: quiet }],
    ["data that is kept from now on", unkept, settings],
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

  test("may be left out for one deployment, as the alias says", () => {
    expect(names(withCanary, once)).toEqual([]);
  });

  test("may be left out for another deployment", () => {
    const again = alias("Set without a canary at 2026-11-25", undefined);
    expect(names(once, again)).toEqual([]);
  });

  test("may return", () => {
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
 * The template without whatever belongs to cancellations. The path goes too, unless it serves
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

describe("what belongs together is one finding:", () => {
  const smaller = { template: withoutCancelOrder() };
  const whole = { template: deployedTemplate };

  test("an operation that is added, which says what its role may do", () => {
    const own = "CancelOrderLog.Arn";
    expect(findChanges(smaller, whole, place)).toEqual([
      {
        name: "operation-added:CancelOrder",
        text:
          "its route has the authorizer; its role is allowed " +
          `logs:CreateLogStream on ${own}, logs:PutLogEvents on ${own}, dynamodb:UpdateItem on Orders.Arn`,
      },
    ]);
  });

  test("an operation that is removed", () => {
    const text = expect.stringMatching(
      /^kept: 1 Logs::LogGroup; deleted: 1 IAM::Role, 1 Lambda::Function, /,
    );
    expect(findChanges(whole, smaller, place)).toEqual([
      { name: "operation-removed:CancelOrder", text },
    ]);
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
  const route = (authorization: string) => (next: Template) => {
    const { properties } = one(next, "ApiGateway::Method", "ApiReststoreordersorderIdDELETE");
    properties["AuthorizationType"] = authorization;
  };

  test("names an operation's route by itself when it has no authorizer", () => {
    const next = structuredClone(deployedTemplate);
    route("NONE")(next);
    const found = findChanges({ template: withoutCancelOrder() }, { template: next }, place);
    const open = "added:Api/Rest/Default/store/orders/{orderId}/DELETE";
    expect(found).toContainEqual({ name: open, text: "open to anyone" });
  });

  test("says that TLS is to be deployed alone", () => {
    const next = structuredClone(deployedTemplate);
    one(next, "ApiGateway::RestApi").properties["SecurityPolicy"] = "OTHER";
    expect(findChanges({ template: deployedTemplate }, { template: next }, place)).toEqual([
      { name: "tls", text: expect.stringMatching(/^Api\/Rest: deploy it alone.* becomes OTHER$/) },
    ]);
  });

  test.each([true, false])(
    "is that termination protection goes, if the stack had it: %s",
    (had) => {
      const stack = { template: deployedTemplate, terminationProtection: had };
      const found = findChanges(stack, {
        template: deployedTemplate,
        terminationProtection: false,
      });
      expect(found.map(({ name }) => name)).toEqual(had ? ["termination-protection"] : []);
    },
  );

  test("has a name that a shell passes on in quotes", () => {
    const names = stoppingChanges.flatMap(({ change }) => found(change));
    expect(names.filter((name) => !/^[\w.:/*@{}+=,-]+$/.test(name))).toEqual([]);
  });
});
