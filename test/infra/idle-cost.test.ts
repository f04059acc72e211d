import { describe, expect, test } from "vitest";
import { noOption } from "../helpers/fixture-environments.ts";
import { resources, templateOf } from "../helpers/synthesise.ts";

const template = templateOf(noOption);

/** Types that cost nothing while idle beyond the bytes they store. */
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

/** Parts of the names of settings that cost money while idle. */
const billedWhileIdle = new RegExp(
  [
    "Cache",
    "KmsKey",
    "MetricsEnabled",
    "ProvisionedConcurrency",
    "ProvisionedThroughput",
    "Replica",
    "Snap",
    "TracingEnabled",
  ].join("|"),
);

describe("an environment without options", () => {
  const { Resources } = template.toJSON();

  test("has only types of resources that cost nothing while idle", () => {
    const types = new Set(Object.values<{ Type: string }>(Resources).map(({ Type }) => Type));
    expect([...types].sort()).toEqual(freeWhileIdle);
  });

  test("has no setting that costs money while idle", () => {
    for (const [id, resource] of Object.entries(Resources)) {
      // The header Cache-Control is no cache.
      const text = JSON.stringify(resource).replaceAll("Cache-Control", "");
      expect(text, id).not.toMatch(billedWhileIdle);
    }
  });

  // One with a default value has data, and costs money, in every month.
  test("has no metric that is published while idle", () => {
    const filters = resources(template, "AWS::Logs::MetricFilter");
    expect(filters.length).toBeGreaterThan(0);
    for (const [id, { MetricTransformations }] of filters)
      expect(JSON.stringify(MetricTransformations), id).not.toContain("DefaultValue");
  });
});
