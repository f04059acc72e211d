import { expect, test } from "vitest";
import { noOption } from "../helpers/fixture-environments.ts";
import { templateOf } from "../helpers/synthesise.ts";

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

/** Parts of the names of settings that cost money while idle; the header Cache-Control doesn't. */
const billedWhileIdle =
  /Cache(?!-Control)|KmsKey|MetricsEnabled|Provisioned(Concurrency|Throughput)|Replica|Snap|Tracing/;

test("an environment without options has nothing that costs money while idle", () => {
  const resources = Object.values<{ Type: string }>(
    templateOf(noOption).toJSON()["Resources"],
  );
  expect([...new Set(resources.map(({ Type }) => Type))].sort()).toEqual(freeWhileIdle);
  const text = JSON.stringify(resources);
  expect(text).not.toMatch(billedWhileIdle);
  // A metric with a default value has data, and costs money, in every month.
  expect(text).not.toContain("DefaultValue");
});
