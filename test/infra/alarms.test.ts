import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { functionList } from "../../infra/stack/function-list.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { named } from "../helpers/named.ts";
import { firstOf, rows, templateOf } from "../helpers/synthesise.ts";

const template = templateOf(everyOption);
const ids = Object.values(functionList).map(({ id }) => id);
const alarms = rows(template, "AWS::CloudWatch::Alarm");

test("the runbook explains every alarm, which says where, and notifies when it goes on and off", () => {
  const [, section = ""] = readFileSync("infra/ON-CALL.md", "utf8").split(
    /^## When an alarm goes off$/m,
  );
  const explained = Array.from(
    section.matchAll(/^- \*\*`([\w<>]+)`\*\*/gm),
    // The entry <Function>Failing explains that alarm of every function.
    ([, entry = ""]) => ids.map((id) => entry.replace("<Function>", id)),
  );
  expect(new Set(explained.flat().map((name) => `Alarms${name}`))).toEqual(
    new Set(alarms.map(([id]) => id)),
  );
  const where =
    'What it means and what to do: infra/ON-CALL.md, "When an alarm goes off", ';
  const topic = ["AlarmsTopic"];
  for (const [id, alarm] of alarms)
    expect(alarm).toMatchObject({
      AlarmDescription: id.replace("Alarms", where),
      AlarmActions: topic,
      OKActions: topic,
    });
});

// CodeDeploy accepts at most ten alarms for a function. They are about its own work only, or the
// caller of one operation could stop the rollout of another.
test("an alias moves by a canary, which failures and its own function's alarms end", () => {
  const groups = Object.fromEntries(rows(template, "AWS::CodeDeploy::DeploymentGroup"));
  const used = Object.values(template.findResources("AWS::Lambda::Alias")).map(
    ({ UpdatePolicy }) =>
      named(UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName),
  );
  expect(used).toEqual(ids.map((id) => `Rollout${id}`));
  const ofOneFunction: Record<string, string[]> = {
    ListOrders: ["ListSlow", "ListsCutOff"],
    CancelOrder: ["CancelSlow"],
  };
  const Events = ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"];
  for (const id of ids) {
    const names = [`${id}Failing`, `${id}ServerErrors`, ...(ofOneFunction[id] ?? [])];
    const Alarms = names.map((name) => ({ Name: `Alarms${name}` }));
    expect(groups[`Rollout${id}`]).toMatchObject({
      DeploymentConfigName: "CodeDeployDefault.LambdaCanary10Percent10Minutes",
      AlarmConfiguration: { Enabled: true, Alarms },
      AutoRollbackConfiguration: { Enabled: true, Events },
    });
  }
});

test("the alarms' topic mails to the address of the setting", () => {
  expect(firstOf(template, "AWS::SNS::Subscription")).toEqual({
    Endpoint: everyOption.alarms.email,
    Protocol: "email",
    TopicArn: "AlarmsTopic",
  });
});

test("only CloudWatch may publish to the alarms' topic, for this account, and over TLS", () => {
  const { PolicyDocument } = firstOf(template, "AWS::SNS::TopicPolicy");
  expect(PolicyDocument.Statement).toMatchObject([
    { Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } },
    {
      Effect: "Allow",
      Principal: { Service: "cloudwatch.amazonaws.com" },
      Condition: { StringEquals: { "aws:SourceAccount": "AWS::AccountId" } },
    },
  ]);
});
