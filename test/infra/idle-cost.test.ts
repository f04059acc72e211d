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

describe("an environment without options", () => {
  const { Resources } = template.toJSON();

  test("has no type of resource that costs money while idle, such as an alarm", () => {
    const types = new Set(Object.values<{ Type: string }>(Resources).map(({ Type }) => Type));
    expect([...types].sort()).toEqual(freeWhileIdle);
  });

  test("has no setting that costs money while idle", () => {
    const bills =
      /Cache|ProvisionedConcurrency|ProvisionedThroughput|KmsKey|Replica|MetricsEnabled|TracingEnabled|Snap/;
    for (const [id, resource] of Object.entries(Resources)) {
      // The authorizer's cache is free.
      const text = JSON.stringify(resource).replace(/"Cache-Control"|header\.Cache-Control/g, "");
      expect([id, bills.exec(text)?.[0]]).toEqual([id, undefined]);
    }
    for (const [, filter] of resources(template, "AWS::Logs::MetricFilter")) {
      expect(filter["MetricTransformations"]).toEqual([
        expect.not.objectContaining({ DefaultValue: expect.anything() }),
      ]);
    }
  });
});
