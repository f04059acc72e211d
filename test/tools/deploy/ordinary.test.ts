import { expect, test } from "vitest";
import {
  comparable,
  isObject,
  listChanges,
  propertyPath,
} from "../../../infra/tools/deploy/compare-templates.ts";
import { isOrdinary } from "../../../infra/tools/deploy/ordinary.ts";
import {
  addLike,
  at,
  type Change,
  codeKey,
  deployedTemplate,
  linesOf,
  push,
  set,
} from "./templates.ts";

const parts = comparable(deployedTemplate);

/** How the stack changes when every text, number and flag in it becomes another one. */
function changesTo(other: (value: unknown) => unknown) {
  const replace = (_: string, value: unknown) => (isObject(value) ? value : other(value));
  const next = Object.entries(parts).map(([id, { Type, ...rest }]) => [
    id,
    { Type, ...JSON.parse(JSON.stringify(rest), replace) },
  ]);
  return listChanges(parts, Object.fromEntries(next));
}

const unset = changesTo(() => undefined);

const times = (factor: number) => (value: unknown) =>
  typeof value === "number" ? value * factor : value;

const numbers = `ApiGateway::Authorizer.AuthorizerResultTtlInSeconds
ApiGateway::Method.Integration.TimeoutInMillis
ApiGateway::Stage.MethodSettings.ThrottlingBurstLimit
ApiGateway::Stage.MethodSettings.ThrottlingRateLimit
CloudWatch::Alarm.DatapointsToAlarm
CloudWatch::Alarm.EvaluationPeriods
CloudWatch::Alarm.Threshold
CloudWatch::Dashboard
DynamoDB::Table.OnDemandThroughput.MaxReadRequestUnits
DynamoDB::Table.OnDemandThroughput.MaxWriteRequestUnits
Lambda::Function.MemorySize
Lambda::Function.ReservedConcurrentExecutions
Lambda::Function.Timeout`.split("\n");
const texts = `*.Description
*.Metadata
ApiGateway::GatewayResponse.ResponseTemplates.application/json.message
ApiGateway::Method.Integration.IntegrationResponses.ResponseTemplates.application/json.message
CloudWatch::Alarm.AlarmDescription
CloudWatch::Dashboard`.split("\n");

test.each([
  ["become another text", changesTo(() => "other"), texts],
  ["become unset", unset, texts],
  [
    "become set",
    unset.map(({ was, is, ...change }) => ({ ...change, was: is, is: was })),
    [
      ...texts,
      "*.DeletionPolicy",
      "*.UpdateReplacePolicy",
      "DynamoDB::Table.DeletionProtectionEnabled",
      "DynamoDB::Table.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled",
      "Lambda::Function.LoggingConfig.ApplicationLogLevel",
      "Lambda::Function.LoggingConfig.SystemLogLevel",
    ],
  ],
  ["grow", changesTo(times(1.1)), [...numbers, "Logs::LogGroup.RetentionInDays"]],
  ["shrink", changesTo(times(0.9)), numbers],
  ["go", listChanges(parts, {}), ["CloudWatch::Dashboard", "Lambda::Version"]],
  [
    "come",
    listChanges({}, parts),
    [
      "CloudWatch::Alarm",
      "CloudWatch::Dashboard",
      "Logs::LogGroup",
      "Logs::MetricFilter",
      "Output",
    ],
  ],
])("of all that the stack has, only what is listed may %s", (_, changes, expected) => {
  const names = changes.filter(isOrdinary).map(({ type, property }) =>
    propertyPath(type, property)
      .replace(/\.(Properties|\d+)(?=\.|$)/g, "")
      .replace(/(Dashboard)\..*/, "$1")
      .replace(/^.*\.(Description|Metadata|\w+Policy)\b.*/, "*.$1"),
  );
  expect(new Set(names)).toEqual(new Set(expected));
});

test.each([
  [257, 0],
  [256, 1],
  [2047, 0],
  [2048, 1],
  [0, 1],
])("memory of 512 MB that becomes %s makes %i lines", (memory, count) => {
  expect(linesOf(set("CancelOrder.MemorySize", memory))).toHaveLength(count);
});

/** What CDK renames with every build: replaces a resource by the same one under another id. */
const rename =
  (path: string, id: string): Change =>
  (next) => {
    const old = at(next, path);
    delete next.Resources[old.id];
    next.Resources[id] = old.resource;
  };

test.each<[what: string, ...changes: Change[]]>([
  [
    "new code",
    set("CancelOrder.Code.S3Key", codeKey(99)),
    rename("CancelOrder/CurrentVersion", "NewVersion"),
    set("CancelOrder/Aliaslive.FunctionVersion", {
      "Fn::GetAtt": ["NewVersion", "Version"],
    }),
  ],
  [
    "another deployment of the API",
    rename("Api/Rest/Deployment", "Newer"),
    set("Api/Rest/DeploymentStage.v1.DeploymentId", { Ref: "Newer" }),
  ],
  ["Node 26", set("CancelOrder.Runtime", "nodejs26.x")],
  [
    "a resource that begins to wait for others",
    (next) => Object.assign(at(next, "Orders").resource, { DependsOn: ["Other"] }),
    (next) => at(next, "CancelOrder").resource["DependsOn"].push("Other"),
  ],
  [
    "a reference in another form",
    (next) => {
      const path = "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement.1.Resource";
      set(path, [{ "Fn::Sub": `$\{${at(next, "Orders").id}.Arn}` }])(next);
    },
  ],
  [
    "a new alarm that rolls its function back",
    addLike("Alarms/CancelSlow", "NewAlarm"),
    push("Rollout/CancelOrder.AlarmConfiguration.Alarms", { Name: { Ref: "NewAlarm" } }),
  ],
])("a deployment does not stop for %s", (_, ...changes) => {
  const change: Change = (next) => changes.map((apply) => apply(next));
  expect(linesOf(change)).toEqual([]);
});
