import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { type Alarm, named, readAlarms } from "../helpers/alarms/definitions.ts";
import { ordersStack, resources } from "../helpers/synthesise.ts";

const { production } = environments;
const template = Template.fromStack(ordersStack(production));

type Row = [inputs: Record<string, string>, limit: string];

const own = "PetStoreOrders/production";
const stage = "[ApiName=PetStoreOrders-production,Stage=v1]";

/** A share of a total, of which nothing may have been counted. */
const percent = (atLeast: number) => `IF(failed >= ${atLeast}, 100 * failed / FILL(total, 1), 0)`;
const invocations = (lambda: string) =>
  `Sum of 300 s of AWS/Lambda Invocations [FunctionName=${lambda},Resource=${lambda}:live]`;
const throttles = (lambda: string) => `Sum of 300 s of AWS/Lambda Throttles [FunctionName=${lambda}]`;

/** About a function's own work: these roll its new version back. */
const failing = (lambda: string): Row => [
  { watched: percent(3), failed: `Sum of 300 s of ${own} ${lambda}Failed []`, total: invocations(lambda) },
  ">= 5, 1 times of 1",
];
const serverErrors = (lambda: string, total = `Sum of 300 s of ${own} ${lambda}Responses []`): Row => [
  {
    watched: percent(3),
    failed: "failures - FILL(turnedAway, 0)",
    failures: `Sum of 300 s of ${own} ${lambda}ServerErrors []`,
    turnedAway: throttles(lambda),
    total,
  },
  ">= 5, 1 times of 1",
];
/** Those of one operation's own. */
const special: Record<string, Record<string, Row>> = {
  ListOrders: {
    ListSlow: [{ watched: `p99 of 60 s of ${own} ListFirstPage []` }, ">= 3000, 3 times of 5"],
    ListsCutOff: [{ watched: `Sum of 300 s of ${own} ListsCutOff []` }, ">= 3, 1 times of 1"],
  },
  CancelOrder: {
    CancelSlow: [
      { watched: "p99 of 60 s of AWS/Lambda Duration [FunctionName=CancelOrder,Resource=CancelOrder:live]" },
      ">= 2000, 3 times of 5",
    ],
  },
};
const lambdas = Object.values<FunctionEntry>(functionList);
const rollingBack: Record<string, Record<string, Row>> = Object.fromEntries(
  lambdas.map(({ id, operation }) => [
    id,
    {
      [`${id}Failing`]: failing(id),
      [`${id}ServerErrors`]: operation ? serverErrors(id) : serverErrors(id, invocations(id)),
      ...special[id],
    },
  ]),
);

/** The alarms that anyone with a key, or even without one, can raise. */
const notifying: Record<string, Row> = {
  KeysRejected: [
    {
      watched: percent(20),
      failed: `Sum of 300 s of ${own} KeysRejected []`,
      total: `Sum of 300 s of AWS/ApiGateway Count ${stage}`,
    },
    ">= 10, 1 times of 1",
  ],
  RequestsThrottled: [{ watched: `Sum of 300 s of ${own} RequestsThrottled []` }, ">= 300, 1 times of 1"],
};
const tables = { orders: "Orders", apiKeys: "ApiKeys" };
for (const { id, permission } of lambdas) {
  const dimensions = `Operation=${permission.action.replace("dynamodb:", "")},TableName=${tables[permission.table]}`;
  const requests = `Sum of 300 s of AWS/DynamoDB ThrottledRequests [${dimensions}]`;
  notifying[`${id}TableThrottled`] = [{ watched: requests }, ">= 50, 1 times of 1"];
  notifying[`${id}Throttled`] = [{ watched: throttles(id) }, ">= 10, 1 times of 1"];
}

const alarms: Record<string, Row> = { ...notifying, ...Object.assign({}, ...Object.values(rollingBack)) };

function row({ inputs, watched, operator, threshold, datapointsToAlarm, evaluationPeriods }: Alarm): Row {
  const texts = [...inputs].map(([name, input]): [string, string] => [
    name === watched ? "watched" : name,
    typeof input === "string" ? input : `${input.statistic} of ${input.period} s of ${input.metric}`,
  ]);
  const symbol = operator === "GreaterThanOrEqualToThreshold" ? ">=" : operator;
  return [Object.fromEntries(texts), `${symbol} ${threshold}, ${datapointsToAlarm} times of ${evaluationPeriods}`];
}

const found = readAlarms(template);

describe("production's alarms", () => {
  test("are these", () => {
    expect(found.map(({ name }) => name).sort()).toEqual(Object.keys(alarms).sort());
  });

  test.each(found.map((alarm) => [alarm.name, alarm] as const))("%s goes off as written here", (name, alarm) => {
    expect(row(alarm)).toEqual(alarms[name]);
  });

  test.each(found.map((alarm) => [alarm.name, alarm] as const))(
    "%s stays off without data, tells the topic, and says where to read on",
    (name, { missingData, actions }) => {
      expect([missingData, actions]).toEqual(["notBreaching", ["AlarmsTopic"]]);
      const [description] = resources(template, "AWS::CloudWatch::Alarm")
        .filter(([id]) => id.startsWith(`Alarms${name}`))
        .map(([, { AlarmDescription }]) => AlarmDescription);
      expect(description).toContain(`infra/README.md, "When an alarm goes off", ${name}`);
    },
  );

  test("reach the topic, which CloudWatch may publish to on behalf of this account only", () => {
    const [[, policy]] = resources(template, "AWS::SNS::TopicPolicy") as [[string, { PolicyDocument: object }]];
    expect(JSON.stringify(template.findResources("AWS::SNS::Topic"))).not.toContain("KmsMasterKeyId");
    expect(named(policy.PolicyDocument)).toMatchObject({
      Statement: [
        { Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } },
        {
          Effect: "Allow",
          Action: "sns:Publish",
          Principal: { Service: "cloudwatch.amazonaws.com" },
          Resource: "AlarmsTopic",
          Condition: { StringEquals: { "aws:SourceAccount": "AWS::AccountId" } },
        },
      ],
    });
  });
});

describe("production's rollout", () => {
  const groups = resources(template, "AWS::CodeDeploy::DeploymentGroup");

  test("shifts each function by a canary, and back when an alarm goes off", () => {
    const aliases = Object.values(template.findResources("AWS::Lambda::Alias"));
    expect(aliases).toHaveLength(Object.keys(rollingBack).length);
    expect(aliases.map(({ UpdatePolicy }) => UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName)).toEqual(
      groups.map(([id]) => ({ Ref: id })),
    );
    for (const [, group] of groups) {
      expect(group).toMatchObject({
        DeploymentConfigName: "CodeDeployDefault.LambdaCanary10Percent10Minutes",
        AlarmConfiguration: { Enabled: true },
        AutoRollbackConfiguration: { Enabled: true, Events: ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"] },
      });
    }
  });

  // Or a caller of one operation could hold up the rollout of another.
  test.each(Object.keys(rollingBack))("rolls %s back on the alarms about its own work, and on no other", (lambda) => {
    const [, group] = groups.find(([id]) => id.startsWith(`Rollout${lambda}`)) ?? [];
    const { Alarms } = named(group?.["AlarmConfiguration"]) as { Alarms: { Name: string }[] };
    expect(Alarms.map(({ Name }) => Name.replace(/^Alarms/, "")).sort()).toEqual(
      Object.keys(rollingBack[lambda] ?? {}).sort(),
    );
    // CodeDeploy's quota.
    expect(Alarms.length).toBeLessThanOrEqual(10);
  });
});
