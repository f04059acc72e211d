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

/**
 * The alarms that roll a new version back, each about its function's own work. All others only
 * notify.
 */
const ofItsOwn: Record<string, string[]> = {
  ListOrders: ["ListSlow", "ListsCutOff"],
  CancelOrder: ["CancelSlow"],
};
const rollingBack = Object.fromEntries(
  Object.values(functionList).map(({ id }) => [
    id,
    [`${id}Failing`, `${id}ServerErrors`, ...(ofItsOwn[id] ?? [])],
  ]),
);

test("the runbook explains every alarm or its kind", async () => {
  const lambdas = Object.keys(rollingBack);
  const runbook = await readFile(new URL("../../infra/ON-CALL.md", import.meta.url), "utf8");
  const section = runbook.split(/^## When an alarm goes off$/m)[1] ?? "";
  const explained = [...section.matchAll(/^- \*\*`([\w<>]+)`\*\*/gm)].flatMap(([, name = ""]) =>
    name.startsWith("<") ? lambdas.map((id) => name.replace("<Function>", id)) : [name],
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

test("the limit of each alarm is that of its setting", () => {
  const { functionFailures, rejectedKeys, slow, ...counts } = everyOption.alarms;
  const perFunction = Object.keys(rollingBack).flatMap((id) => [
    [`${id}Failing`, [functionFailures.percent, functionFailures.atLeast]],
    [`${id}ServerErrors`, [functionFailures.percent, functionFailures.atLeast]],
    [`${id}Throttled`, [counts.functionThrottles]],
    [`${id}TableThrottled`, [counts.tableThrottles]],
  ]);
  const limits = Object.fromEntries(
    alarms.map(([name, { Metrics, Threshold }]) => {
      const least = /failed >= (\d+)/.exec(JSON.stringify(Metrics)) ?? [];
      return [name, [Threshold, ...least.slice(1).map(Number)]];
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
    const updates = aliases.map(
      ({ UpdatePolicy }) => UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName,
    );
    expect(updates).toEqual(groups.map(([id]) => ({ Ref: id })));
    expect(groups).toHaveLength(Object.keys(rollingBack).length);
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

  // Or a caller of one operation could hold up the rollout of another. CodeDeploy accepts at most
  // ten.
  test.each(Object.entries(rollingBack))(
    "of %s is rolled back by the alarms about its own work only",
    (id, own) => {
      const [, group] = groups.find(([groupId]) => groupId.startsWith(`Rollout${id}`)) ?? [];
      const { Alarms } = named(group?.["AlarmConfiguration"]) as { Alarms: { Name: string }[] };
      expect(Alarms.map(({ Name }) => Name.replace(/^Alarms/, "")).sort()).toEqual(own);
    },
  );
});
