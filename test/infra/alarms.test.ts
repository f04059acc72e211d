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

const shared: Record<string, Row> = {
  ServerErrors: [
    {
      watched: "IF(failed >= 5, 100 * failed / total, 0)",
      failed: `Sum of 60 s of AWS/ApiGateway 5XXError ${stage}`,
      total: `Sum of 60 s of AWS/ApiGateway Count ${stage}`,
    },
    ">= 5, 3 times of 5",
  ],
  CancelSlow: [
    { watched: "p99 of 60 s of AWS/Lambda Duration [FunctionName=CancelOrder,Resource=CancelOrder:live]" },
    ">= 2000, 3 times of 5",
  ],
  ListSlow: [{ watched: `p99 of 60 s of ${own} ListFirstPage []` }, ">= 3000, 3 times of 5"],
  AuthorizerFailures: [{ watched: `Sum of 300 s of ${own} AuthorizerFailures []` }, ">= 5, 1 times of 1"],
  ListsCutOff: [{ watched: `Sum of 300 s of ${own} ListsCutOff []` }, ">= 3, 1 times of 1"],
};

const ofFunction = (lambda: string, table: string): Record<string, Row> => ({
  [`${lambda}Failing`]: [
    {
      watched: "IF(failed >= 3, 100 * failed / total, 0)",
      failed: `Sum of 300 s of ${own} ${lambda}Failed []`,
      total: `Sum of 300 s of AWS/Lambda Invocations [FunctionName=${lambda},Resource=${lambda}:live]`,
    },
    ">= 5, 1 times of 1",
  ],
  [`${lambda}TableThrottled`]: [
    { watched: `Sum of 300 s of AWS/DynamoDB ThrottledRequests [${table}]` },
    ">= 50, 1 times of 1",
  ],
  [`${lambda}Throttled`]: [
    { watched: `Sum of 300 s of AWS/Lambda Throttles [FunctionName=${lambda}]` },
    ">= 10, 1 times of 1",
  ],
});

const lambdas = Object.values<FunctionEntry>(functionList);
const tables = { orders: "Orders", apiKeys: "ApiKeys" };

const alarms: Record<string, Row> = {
  ...shared,
  ...Object.assign(
    {},
    ...lambdas.map(({ id, permission: { action, table } }) =>
      ofFunction(id, `Operation=${action.replace("dynamodb:", "")},TableName=${tables[table]}`),
    ),
  ),
  KeysRejected: [
    {
      watched: "IF(failed >= 20, 100 * failed / total, 0)",
      failed: `Sum of 300 s of ${own} KeysRejected []`,
      total: `Sum of 300 s of AWS/ApiGateway Count ${stage}`,
    },
    ">= 10, 1 times of 1",
  ],
};

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
    expect(aliases).toHaveLength(lambdas.length);
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

  test.each(lambdas.map(({ id }) => id))(
    "rolls %s back on the shared alarms and its own, never on KeysRejected",
    (lambda) => {
      const [, group] = groups.find(([id]) => id.startsWith(`Rollout${lambda}`)) ?? [];
      const { Alarms } = named(group?.["AlarmConfiguration"]) as { Alarms: { Name: string }[] };
      expect(Alarms.map(({ Name }) => Name.replace(/^Alarms/, "")).sort()).toEqual(
        [...Object.keys(shared), ...Object.keys(ofFunction(lambda, ""))].sort(),
      );
      // CodeDeploy's quota.
      expect(Alarms.length).toBeLessThanOrEqual(10);
    },
  );
});

describe("with a limit on lists", () => {
  const limited = readAlarms(Template.fromStack(ordersStack({ ...production, listConcurrency: 20 })));

  test("the lists that Lambda turns away raise nothing", () => {
    const { ListOrdersThrottled: _, ...others } = alarms;
    const [{ watched, total, failed: responses } = {}] = others["ServerErrors"] ?? [];
    expect(Object.fromEntries(limited.map((alarm) => [alarm.name, row(alarm)]))).toEqual({
      ...others,
      ServerErrors: [
        {
          watched,
          total,
          failed: "responses - FILL(turnedAway, 0)",
          responses,
          turnedAway: "Sum of 60 s of AWS/Lambda Throttles [FunctionName=ListOrders]",
        },
        ">= 5, 3 times of 5",
      ],
    });
  });
});
