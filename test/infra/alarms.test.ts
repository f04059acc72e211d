import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { functionList } from "../../infra/stack/function-list.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { constructId, named } from "../helpers/named.ts";
import { resources, templateOf } from "../helpers/synthesise.ts";

const template = templateOf(everyOption);
const alarms = resources(template, "AWS::CloudWatch::Alarm").map(
  ([id, properties]) => [constructId(id).replace(/^Alarms/, ""), properties] as const,
);

const functionIds = Object.values(functionList).map(({ id }) => id);
const extraAlarms: Record<string, string[]> = {
  ListOrders: ["ListSlow", "ListsCutOff"],
  CancelOrder: ["CancelSlow"],
};
/** The alarms that roll back a new version of each function. All others only notify. */
const rollbackAlarms = Object.fromEntries(
  functionIds.map((id) => [id, [`${id}Failing`, `${id}ServerErrors`, ...(extraAlarms[id] ?? [])]]),
);

test("the runbook explains every alarm", async () => {
  const runbook = await readFile(new URL("../../infra/ON-CALL.md", import.meta.url), "utf8");
  const section = runbook.split(/^## When an alarm goes off$/m)[1] ?? "";
  const entries = Array.from(section.matchAll(/^- \*\*`([\w<>]+)`\*\*/gm), ([, name = ""]) => name);
  // The entry <Function>Failing explains that alarm of every function.
  const explained = entries.flatMap((entry) =>
    entry.startsWith("<Function>")
      ? functionIds.map((id) => entry.replace("<Function>", id))
      : [entry],
  );
  const names = alarms.map(([name]) => name);
  expect(explained.sort(), "infra/ON-CALL.md, When an alarm goes off").toEqual(names.toSorted());
});

test("every alarm says where the runbook explains it", () => {
  for (const [name, { AlarmDescription }] of alarms) {
    expect(AlarmDescription).toContain(`infra/ON-CALL.md, "When an alarm goes off", ${name}`);
  }
});

test("every alarm stays off without data", () => {
  for (const [name, { TreatMissingData }] of alarms)
    expect(TreatMissingData, name).toBe("notBreaching");
});

test("every alarm has the limits of its setting", () => {
  const { functionFailures, rejectedKeys, slow, ...counts } = everyOption.alarms;
  const perFunction = functionIds.flatMap((id) => [
    [`${id}Failing`, [functionFailures.percent, functionFailures.atLeast]],
    [`${id}ServerErrors`, [functionFailures.percent, functionFailures.atLeast]],
    [`${id}Throttled`, [counts.functionThrottles]],
    [`${id}TableThrottled`, [counts.tableThrottles]],
  ]);
  const limits = Object.fromEntries(
    alarms.map(([name, { Metrics, Threshold }]) => {
      const atLeast = /failed >= (\d+)/.exec(JSON.stringify(Metrics))?.[1];
      return [name, atLeast === undefined ? [Threshold] : [Threshold, Number(atLeast)]];
    }),
  );
  expect(limits).toEqual({
    ...Object.fromEntries(perFunction),
    KeysRejected: [rejectedKeys.percent, rejectedKeys.atLeast],
    CancelSlow: [slow.cancel],
    ListSlow: [slow.listFirstPage],
    ListsCutOff: [counts.listsCutOff],
    RequestsThrottled: [counts.requestsThrottled],
  });
});

const ofSlowness = ["CancelSlow", "ListSlow"];

test("every alarm that isn't about slowness goes off after one period", () => {
  for (const [name, { EvaluationPeriods }] of alarms) {
    if (!ofSlowness.includes(name)) expect(EvaluationPeriods, name).toBe(1);
  }
});

test.each(ofSlowness)("%s goes off after three slow minutes of five", (name) => {
  const threeOfFiveMinutes = { Period: 60, EvaluationPeriods: 5, DatapointsToAlarm: 3 };
  expect(Object.fromEntries(alarms)[name]).toMatchObject(threeOfFiveMinutes);
});

describe("the topic", () => {
  const policies = resources(template, "AWS::SNS::TopicPolicy").map(([, { PolicyDocument }]) =>
    named(PolicyDocument),
  );

  test("lets CloudWatch alone publish, on behalf of this account", () => {
    const account = expect.stringMatching(/^AWS::AccountId$|^\d{12}$/);
    const publish = {
      Effect: "Allow",
      Action: "sns:Publish",
      Principal: { Service: "cloudwatch.amazonaws.com" },
      Resource: "AlarmsTopic",
      Condition: { StringEquals: { "aws:SourceAccount": account } },
    };
    expect(policies).toMatchObject([{ Statement: [{ Effect: "Deny" }, publish] }]);
  });

  test("accepts no message without TLS", () => {
    const deny = { Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } };
    expect(policies).toMatchObject([{ Statement: [deny, expect.anything()] }]);
  });
});

describe("a canary", () => {
  const groups = resources(template, "AWS::CodeDeploy::DeploymentGroup");

  test("is how each alias moves to a new version", () => {
    const aliases = Object.values(template.findResources("AWS::Lambda::Alias"));
    const used = aliases.map(
      ({ UpdatePolicy }) => UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref,
    );
    expect(aliases).toHaveLength(functionIds.length);
    expect(new Set(used)).toEqual(new Set(groups.map(([id]) => id)));
    expect(groups).toHaveLength(functionIds.length);
  });

  test("gets a tenth of the requests for ten minutes", () => {
    const DeploymentConfigName = "CodeDeployDefault.LambdaCanary10Percent10Minutes";
    for (const [, group] of groups) expect(group).toMatchObject({ DeploymentConfigName });
  });

  test("is rolled back when an alarm goes off", () => {
    for (const [, group] of groups) {
      expect(group).toMatchObject({
        AlarmConfiguration: { Enabled: true },
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"],
        },
      });
    }
  });

  // Otherwise the caller of one operation could stop the rollout of another. CodeDeploy accepts at
  // most ten alarms.
  test.each(Object.entries(rollbackAlarms))(
    "of %s is rolled back by the alarms about its own work only",
    (id, own) => {
      const [, group] = groups.find(([groupId]) => groupId.startsWith(`Rollout${id}`)) ?? [];
      const { Alarms } = named(group?.["AlarmConfiguration"]) as { Alarms: { Name: string }[] };
      expect(Alarms.map(({ Name }) => Name.replace(/^Alarms/, "")).sort()).toEqual(own);
    },
  );
});
