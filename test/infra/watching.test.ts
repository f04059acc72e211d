import { Match, type Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { resources, templates } from "../helpers/synthesise.ts";

interface Metric {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: unknown }[] | undefined;
}

/** Of one metric, or of several in an expression. */
interface Alarm extends Metric {
  Metrics?: { MetricStat?: { Metric: Metric } }[];
}

const emittedByFilters = (template: Template) =>
  resources(template, "AWS::Logs::MetricFilter").flatMap(([, filter]) => {
    const transformations = filter["MetricTransformations"] as (Omit<Metric, "Namespace" | "Dimensions"> & {
      MetricNamespace: string;
      Dimensions?: { Key: string }[];
    })[];
    return transformations.map(
      ({ MetricNamespace, MetricName, Dimensions = [] }) =>
        `${MetricNamespace} ${MetricName} [${Dimensions.map(({ Key }) => Key)}]`,
    );
  });

/**
 * What AWS's own services emit, with the dimensions they emit it by, as their guides list them
 * (API Gateway: api-gateway-metrics-and-dimensions; Lambda: monitoring-metrics; DynamoDB: metrics-dimensions).
 */
const emittedByServices = [
  "AWS/ApiGateway 5XXError [ApiName,Stage]",
  "AWS/ApiGateway Count [ApiName,Stage]",
  "AWS/Lambda Duration [FunctionName,Resource]",
  "AWS/Lambda Throttles [FunctionName]",
  "AWS/DynamoDB ThrottledRequests [Operation,TableName]",
];

function metricsOf({ Metrics, Namespace, MetricName, Dimensions }: Alarm): Metric[] {
  if (Metrics === undefined) return [{ Namespace, MetricName, Dimensions }];
  return Metrics.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric]));
}

const form = ({ Namespace, MetricName, Dimensions = [] }: Metric) =>
  `${Namespace} ${MetricName} [${Dimensions.map(({ Name }) => Name).sort()}]`;

const [[, staging], [, production]] = templates as [(typeof templates)[number], (typeof templates)[number]];
const alarms = resources(production, "AWS::CloudWatch::Alarm").map(
  ([id, alarm]) => [id.replace(/^Alarms|[0-9A-F]{8}$/g, ""), alarm as unknown as Alarm] as const,
);

describe("production's alarms", () => {
  test("cover what clients would notice and what would explain it", () => {
    expect(alarms.map(([name]) => name)).toEqual([
      "ServerErrors",
      "CancelSlow",
      "ListSlow",
      "AuthorizerFailures",
      "ListsCutOff",
      ...["ListOrders", "CancelOrder", "Authorize"].flatMap((name) => [`${name}Throttled`, `${name}TableThrottled`]),
    ]);
  });

  test.each(alarms)("%s watches a metric that is emitted, by exactly those dimensions", (_name, alarm) => {
    const metrics = metricsOf(alarm);
    expect(metrics).not.toHaveLength(0);
    for (const metric of metrics)
      expect([...emittedByServices, ...emittedByFilters(production)]).toContain(form(metric));
  });

  test.each(alarms)("%s watches resources of this stack", (_name, alarm) => {
    const values = metricsOf(alarm).flatMap(({ Dimensions = [] }) => Dimensions);
    const ids = (type: string) => Object.keys(production.findResources(type)).map((id) => ({ Ref: id }));
    const api = resources(production, "AWS::ApiGateway::RestApi").map(([, { Name }]) => Name);
    const stage = resources(production, "AWS::ApiGateway::Stage").map(([, { StageName }]) => StageName);
    const aliases = resources(production, "AWS::Lambda::Alias").map(([, { FunctionName, Name }]) => ({
      "Fn::Join": ["", [FunctionName, `:${Name}`]],
    }));
    const actions = resources(production, "AWS::IAM::Policy").flatMap(([, { PolicyDocument }]) =>
      (PolicyDocument as { Statement: { Action: string | string[] }[] }).Statement.flatMap(({ Action }) => Action),
    );
    const existing: Record<string, unknown[]> = {
      ApiName: api,
      Stage: stage,
      FunctionName: ids("AWS::Lambda::Function"),
      Resource: aliases,
      TableName: ids("AWS::DynamoDB::Table"),
      Operation: actions.map((action) => action.replace("dynamodb:", "")),
    };
    for (const { Name, Value } of values) expect(existing[Name]).toContainEqual(Value);
  });

  test.each(alarms)("%s takes silence for peace, and tells the topic", (_name, alarm) => {
    const topic = Object.keys(production.findResources("AWS::SNS::Topic"))[0];
    expect(alarm).toMatchObject({ TreatMissingData: "notBreaching", AlarmActions: [{ Ref: topic }] });
  });

  test("can reach the topic, which is not encrypted with a key that CloudWatch may not use", () => {
    production.hasResourceProperties("AWS::SNS::Topic", { KmsMasterKeyId: Match.absent() });
    const [[, policy]] = resources(production, "AWS::SNS::TopicPolicy") as [[string, Record<string, unknown>]];
    expect((policy["PolicyDocument"] as { Statement: unknown[] }).Statement).toContainEqual(
      expect.objectContaining({
        Effect: "Allow",
        Action: "sns:Publish",
        Principal: { Service: "cloudwatch.amazonaws.com" },
      }),
    );
  });
});

describe("production's rollout", () => {
  const groups = resources(production, "AWS::CodeDeploy::DeploymentGroup");

  test("shifts each function by a canary, and back when an alarm goes off", () => {
    const aliases = Object.values(production.findResources("AWS::Lambda::Alias"));
    expect(aliases).toHaveLength(3);
    expect(aliases.map(({ UpdatePolicy }) => UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName)).toEqual(
      groups.map(([id]) => ({ Ref: id })),
    );
    for (const [, group] of groups) {
      expect(group).toMatchObject({
        DeploymentConfigName: "CodeDeployDefault.LambdaCanary10Percent10Minutes",
        AlarmConfiguration: { Enabled: true },
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: expect.arrayContaining(["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"]),
        },
      });
    }
  });

  test("looks at every alarm for some function, and for none at more than CodeDeploy's ten", () => {
    const names = groups.map(([, { AlarmConfiguration }]) =>
      (AlarmConfiguration as { Alarms: { Name: { Ref: string } }[] }).Alarms.map(({ Name }) => Name.Ref),
    );
    for (const each of names) expect(each.length).toBeLessThanOrEqual(10);
    expect(new Set(names.flat())).toEqual(new Set(Object.keys(production.findResources("AWS::CloudWatch::Alarm"))));
  });
});

/** Types that cost nothing, or nothing beyond stored bytes, while nobody calls. */
const freeWhileIdle = [
  "AWS::ApiGateway::Account",
  "AWS::ApiGateway::Authorizer",
  "AWS::ApiGateway::Deployment",
  "AWS::ApiGateway::GatewayResponse",
  "AWS::ApiGateway::Method",
  "AWS::ApiGateway::Resource",
  "AWS::ApiGateway::RestApi",
  "AWS::ApiGateway::Stage",
  "AWS::DynamoDB::Table",
  "AWS::IAM::Policy",
  "AWS::IAM::Role",
  "AWS::Lambda::Alias",
  "AWS::Lambda::Function",
  "AWS::Lambda::Permission",
  "AWS::Lambda::Version",
  "AWS::Logs::LogGroup",
  "AWS::Logs::MetricFilter",
];

describe("staging", () => {
  const { Resources } = staging.toJSON();

  test("has no alarm, and no resource of a kind that bills while idle", () => {
    const types = new Set(Object.values<{ Type: string }>(Resources).map(({ Type }) => Type));
    expect([...types].sort()).toEqual(freeWhileIdle);
  });

  test("has those resources without anything that bills while idle", () => {
    const bills =
      /Cache|ProvisionedConcurrency|ProvisionedThroughput|KmsKey|Replica|MetricsEnabled|TracingEnabled|Snap/;
    for (const [id, resource] of Object.entries(Resources)) {
      // A cache of authorisations is part of every authorizer's price.
      const text = JSON.stringify(resource).replace(/"Cache-Control"|header\.Cache-Control/g, "");
      expect([id, bills.exec(text)?.[0]]).toEqual([id, undefined]);
    }
    for (const [, filter] of resources(staging, "AWS::Logs::MetricFilter")) {
      expect(filter["MetricTransformations"]).toEqual([
        expect.not.objectContaining({ DefaultValue: expect.anything() }),
      ]);
    }
  });

  test("sends all calls to new code at once", () => {
    for (const alias of Object.values(staging.findResources("AWS::Lambda::Alias"))) {
      expect(alias["UpdatePolicy"]).toBeUndefined();
    }
  });
});
