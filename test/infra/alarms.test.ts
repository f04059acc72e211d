import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { functionList } from "../../infra/stack/function-list.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { named } from "../helpers/named.ts";
import { rows, templateOf } from "../helpers/synthesise.ts";

const template = templateOf(everyOption);
const ids = Object.values(functionList).map(({ id }) => id);
const alarms = rows(template, "AWS::CloudWatch::Alarm").map(
  ([id, alarm]) => [id.replace(/^Alarms/, ""), alarm] as const,
);
const groups = rows(template, "AWS::CodeDeploy::DeploymentGroup");

test("the runbook explains every alarm, and every alarm says where", async () => {
  const runbook = await readFile(new URL("../../infra/ON-CALL.md", import.meta.url), "utf8");
  const section = runbook.split(/^## When an alarm goes off$/m)[1] ?? "";
  const explained = Array.from(section.matchAll(/^- \*\*`([\w<>]+)`\*\*/gm), ([, entry = ""]) =>
    // The entry <Function>Failing explains that alarm of every function.
    ids.map((id) => entry.replace("<Function>", id)),
  );
  const names = alarms.map(([name]) => name);
  expect([...new Set(explained.flat())].sort()).toEqual(names.sort());
  for (const [name, { AlarmDescription }] of alarms)
    expect(AlarmDescription).toContain(`infra/ON-CALL.md, "When an alarm goes off", ${name}`);
});

// CodeDeploy accepts at most ten alarms for a function. They are about its own work only, or the
// caller of one operation could stop the rollout of another.
test("an alarm has the limits of its setting, and rolls back its own function or none", () => {
  const lines = alarms.map(([name, alarm]) => {
    const text = JSON.stringify(alarm);
    const { DatapointsToAlarm = 1, EvaluationPeriods, Threshold, TreatMissingData } = alarm;
    const seconds = /"Period":(\d+)/.exec(text)?.[1];
    const limit = [Threshold, ...(/failed >= \d+/.exec(text) ?? [])].join(" and ");
    const periods = `${DatapointsToAlarm} of ${EvaluationPeriods} x ${seconds} s`;
    const rolledBack = groups
      .filter(([, group]) => JSON.stringify(group.AlarmConfiguration).includes(`"Alarms${name}"`))
      .map(([group]) => `, rolls back ${group}`);
    return `${name}: ${limit} in ${periods}, without data ${TreatMissingData}${rolledBack}`;
  });
  expect(["", ...lines.sort(), ""].join("\n")).toMatchInlineSnapshot(`
    "
    ApiServerErrors: 5 and failed >= 3 in 1 of 1 x 300 s, without data notBreaching
    AuthorizeFailing: 5 and failed >= 3 in 1 of 1 x 300 s, without data notBreaching, rolls back RolloutAuthorize
    AuthorizeServerErrors: 5 and failed >= 3 in 1 of 1 x 300 s, without data notBreaching, rolls back RolloutAuthorize
    AuthorizeTableThrottled: 50 in 1 of 1 x 300 s, without data notBreaching
    AuthorizeThrottled: 10 in 1 of 1 x 300 s, without data notBreaching
    CancelOrderFailing: 5 and failed >= 3 in 1 of 1 x 300 s, without data notBreaching, rolls back RolloutCancelOrder
    CancelOrderServerErrors: 5 and failed >= 3 in 1 of 1 x 300 s, without data notBreaching, rolls back RolloutCancelOrder
    CancelOrderTableThrottled: 50 in 1 of 1 x 300 s, without data notBreaching
    CancelOrderThrottled: 10 in 1 of 1 x 300 s, without data notBreaching
    CancelSlow: 2000 in 3 of 5 x 60 s, without data notBreaching, rolls back RolloutCancelOrder
    KeysRejected: 10 and failed >= 20 in 1 of 1 x 300 s, without data notBreaching
    ListOrdersFailing: 5 and failed >= 3 in 1 of 1 x 300 s, without data notBreaching, rolls back RolloutListOrders
    ListOrdersServerErrors: 5 and failed >= 3 in 1 of 1 x 300 s, without data notBreaching, rolls back RolloutListOrders
    ListOrdersTableThrottled: 50 in 1 of 1 x 300 s, without data notBreaching
    ListOrdersThrottled: 10 in 1 of 1 x 300 s, without data notBreaching
    ListSlow: 3000 in 3 of 5 x 60 s, without data notBreaching, rolls back RolloutListOrders
    ListsCutOff: 3 in 1 of 1 x 300 s, without data notBreaching, rolls back RolloutListOrders
    RequestsThrottled: 250 in 1 of 1 x 300 s, without data notBreaching
    "
  `);
});

test("an alias moves by a canary, a tenth for ten minutes, which alarms and failures end", () => {
  const used = Object.values(template.findResources("AWS::Lambda::Alias")).map(({ UpdatePolicy }) =>
    named(UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName),
  );
  expect(used).toEqual(ids.map((id) => `Rollout${id}`));
  expect(groups.map(([id]) => id)).toEqual(used);
  for (const [, group] of groups) {
    expect(group).toMatchObject({
      DeploymentConfigName: "CodeDeployDefault.LambdaCanary10Percent10Minutes",
      AlarmConfiguration: { Enabled: true },
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"],
      },
    });
  }
});

test("the topic lets CloudWatch alone publish, over TLS, on behalf of this account", () => {
  const [[, policy] = []] = rows(template, "AWS::SNS::TopicPolicy");
  expect(policy.PolicyDocument.Statement).toMatchObject([
    { Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } },
    {
      Effect: "Allow",
      Action: "sns:Publish",
      Principal: { Service: "cloudwatch.amazonaws.com" },
      Resource: "AlarmsTopic",
      Condition: { StringEquals: { "aws:SourceAccount": "AWS::AccountId" } },
    },
  ]);
});

test("the topic notifies the email address", () => {
  const subscriptions = rows(template, "AWS::SNS::Subscription").map(([, one]) => one);
  const { email } = everyOption.alarms;
  expect(subscriptions).toEqual([{ Protocol: "email", Endpoint: email, TopicArn: "AlarmsTopic" }]);
});
