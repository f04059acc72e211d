import { readFile } from "node:fs/promises";
import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { functionList } from "../../infra/stack/function-list.ts";
import { named, readAlarms } from "../helpers/alarms/definitions.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { ordersStack, resources } from "../helpers/synthesise.ts";

const template = Template.fromStack(ordersStack(everyOption));
const alarms = readAlarms(template);
const names = alarms.map(({ name }) => name);

/** The alarms that roll a new version back, each about its function's own work. All others only notify. */
const ofItsOwn: Record<string, string[]> = { ListOrders: ["ListSlow", "ListsCutOff"], CancelOrder: ["CancelSlow"] };
const rollingBack = Object.fromEntries(
  Object.values(functionList).map(({ id }) => [id, [`${id}Failing`, `${id}ServerErrors`, ...(ofItsOwn[id] ?? [])]]),
);

test("every alarm stays off without data, and tells the topic when it goes off and when it is over", () => {
  expect(alarms.length).toBeGreaterThan(10);
  for (const [id, { TreatMissingData, AlarmActions, OKActions }] of resources(template, "AWS::CloudWatch::Alarm")) {
    const expected = [id, "notBreaching", ["AlarmsTopic"], ["AlarmsTopic"]];
    expect([id, TreatMissingData, named(AlarmActions), named(OKActions)]).toEqual(expected);
  }
});

test("every alarm names the section of the runbook that explains it, or its kind", async () => {
  const lambdas = Object.keys(rollingBack);
  const runbook = await readFile(new URL("../../infra/README.md", import.meta.url), "utf8");
  const [, section = ""] = /^## When an alarm goes off\n(.*?)^## /ms.exec(runbook) ?? [];
  const explained = [...section.matchAll(/^- \*\*`([\w<>]+)`\*\*/gm)].flatMap(([, name = ""]) =>
    name.startsWith("<") ? lambdas.map((id) => name.replace("<Function>", id)) : [name],
  );
  expect(explained.sort(), "infra/README.md, When an alarm goes off").toEqual(names.toSorted());
  for (const [, { AlarmDescription }] of resources(template, "AWS::CloudWatch::Alarm")) {
    const [, name] = /infra\/README\.md, "When an alarm goes off", (\w+)$/.exec(String(AlarmDescription)) ?? [];
    expect(names).toContain(name);
  }
});

test("each limit is that of its setting", () => {
  const { functionFailures, rejectedKeys, slow, ...counts } = everyOption.alarms;
  const share = Object.keys(rollingBack).flatMap((id) => [`${id}Failing`, `${id}ServerErrors`]);
  const perFunction = (kind: string) => Object.keys(rollingBack).map((id) => `${id}${kind}`);
  const limits: [names: string[], threshold: number, times: string][] = [
    [share, functionFailures.percent, "1 of 1"],
    [["KeysRejected"], rejectedKeys.percent, "1 of 1"],
    // One slow minute is a blip.
    [["CancelSlow"], slow.cancel, "3 of 5"],
    [["ListSlow"], slow.listFirstPage, "3 of 5"],
    [["ListsCutOff"], counts.listsCutOff, "1 of 1"],
    [perFunction("Throttled"), counts.functionThrottles, "1 of 1"],
    [perFunction("TableThrottled"), counts.tableThrottles, "1 of 1"],
    [["RequestsThrottled"], counts.requestsThrottled, "1 of 1"],
  ];
  const expected = limits.flatMap(([of, threshold, times]) => of.map((name) => [name, { threshold, times }] as const));
  const found = alarms.map(({ name, threshold, datapointsToAlarm, evaluationPeriods }) => {
    return [name, { threshold, times: `${datapointsToAlarm} of ${evaluationPeriods}` }];
  });
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  for (const { inputs } of alarms) {
    const expressions = [...inputs.values()].filter((input) => typeof input === "string");
    for (const [, least] of expressions.join().matchAll(/failed >= (\d+)/g)) {
      expect([functionFailures.atLeast, rejectedKeys.atLeast]).toContain(Number(least));
    }
  }
});

test("CloudWatch may publish to the topic on behalf of this account only, and everyone only over TLS", () => {
  const [[, policy]] = resources(template, "AWS::SNS::TopicPolicy") as [[string, { PolicyDocument: object }]];
  expect(named(policy.PolicyDocument)).toMatchObject({
    Statement: [
      { Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } },
      {
        Effect: "Allow",
        Action: "sns:Publish",
        Principal: { Service: "cloudwatch.amazonaws.com" },
        Resource: "AlarmsTopic",
        Condition: { StringEquals: { "aws:SourceAccount": expect.stringMatching(/^AWS::AccountId$|^\d{12}$/) } },
      },
    ],
  });
});

describe("a canary", () => {
  const groups = resources(template, "AWS::CodeDeploy::DeploymentGroup");

  test("gets a tenth of the requests for ten minutes, and is rolled back when an alarm goes off", () => {
    const aliases = Object.values(template.findResources("AWS::Lambda::Alias"));
    const updates = aliases.map(({ UpdatePolicy }) => UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName);
    expect(updates).toEqual(groups.map(([id]) => ({ Ref: id })));
    expect(groups).toHaveLength(Object.keys(rollingBack).length);
    for (const [, group] of groups) {
      expect(group).toMatchObject({
        DeploymentConfigName: "CodeDeployDefault.LambdaCanary10Percent10Minutes",
        AlarmConfiguration: { Enabled: true },
        AutoRollbackConfiguration: { Enabled: true, Events: ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"] },
      });
    }
  });

  // Or a caller of one operation could hold up the rollout of another. CodeDeploy accepts at most ten.
  test.each(Object.entries(rollingBack))("of %s is rolled back by the alarms about its own work only", (id, own) => {
    const [, group] = groups.find(([groupId]) => groupId.startsWith(`Rollout${id}`)) ?? [];
    const { Alarms } = named(group?.["AlarmConfiguration"]) as { Alarms: { Name: string }[] };
    expect(Alarms.map(({ Name }) => Name.replace(/^Alarms/, "")).sort()).toEqual(own);
  });
});
