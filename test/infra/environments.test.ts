import type { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { type Environment, environments } from "../../infra/environments.ts";
import { functionList } from "../../infra/stack/function-list.ts";
import { ordersStack, resources, templates } from "../helpers/synthesise.ts";

/** The template of an environment as if it were production, its deployment named without the hash of the rest. */
function asProduction(environment: Environment): unknown {
  const text = JSON.stringify(Template.fromStack(ordersStack(environment)).toJSON());
  return JSON.parse(
    text.replaceAll("staging", "production").replaceAll(/ApiRestDeployment(?!Stage)\w+/g, "Deployment"),
  );
}

describe("the environments", () => {
  test("differ only in what their records say", () => {
    const renamed = asProduction({ ...environments.production, name: "staging" });
    expect(renamed).toEqual(asProduction(environments.production));
  });

  test("make a new deployment when a setting of the authorizer changes, which otherwise would never take effect", () => {
    const deployment = (changes: Partial<Environment>) =>
      Object.keys(
        Template.fromStack(ordersStack({ ...environments.production, ...changes })).findResources(
          "AWS::ApiGateway::Deployment",
        ),
      );
    expect(deployment({})).toEqual(deployment({}));
    expect(deployment({ authorizerCacheSeconds: 0 })).not.toEqual(deployment({}));
    expect(deployment({ apiKeyPrefix: "pets_test" })).not.toEqual(deployment({}));
  });

  test.each(templates)("%s keeps its tables exactly when its record says so", (_name, template, { keepData }) => {
    const tables = Object.values(template.findResources("AWS::DynamoDB::Table"));
    expect(tables).toHaveLength(2);
    for (const table of tables) {
      expect(table).toMatchObject({
        DeletionPolicy: keepData ? "Retain" : "Delete",
        UpdateReplacePolicy: keepData ? "Retain" : "Delete",
        Properties: {
          BillingMode: "PAY_PER_REQUEST",
          DeletionProtectionEnabled: keepData,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: keepData },
        },
      });
    }
  });

  test("keep production's data, and the log of what each key was used for", () => {
    expect([environments.staging.keepData, environments.production.keepData]).toEqual([false, true]);
    const accessLogs = templates.map(([, template]) =>
      Object.entries(template.findResources("AWS::Logs::LogGroup")).find(([id]) => id.startsWith("ApiAccessLog")),
    );
    expect(accessLogs.map((log) => [log?.[1]["DeletionPolicy"], log?.[1]["UpdateReplacePolicy"]])).toEqual([
      ["Delete", "Delete"],
      ["Retain", "Retain"],
    ]);
  });

  test.each(templates)("%s stops accepting a revoked key within a minute", (_name, template) => {
    const [[, authorizer] = []] = resources(template, "AWS::ApiGateway::Authorizer");
    expect(authorizer?.["AuthorizerResultTtlInSeconds"]).toBeLessThanOrEqual(60);
  });

  test.each(templates)("%s keeps its logs for as long as its record says", (_name, template, environment) => {
    const groups = resources(template, "AWS::Logs::LogGroup");
    // One for each function, and two of the gateway.
    expect(groups).toHaveLength(Object.keys(functionList).length + 2);
    for (const [id, group] of groups) {
      const days = id.startsWith("ApiAccessLog") ? environment.accessLogRetentionDays : environment.logRetentionDays;
      expect([id, group["RetentionInDays"]]).toEqual([id, days]);
    }
  });

  test("keep callers' addresses for a quarter at most, and let staging alone log every invocation", () => {
    const { staging, production } = environments;
    expect([staging.accessLogRetentionDays, production.accessLogRetentionDays]).toEqual([14, 90]);
    expect([staging.systemLogLevel, production.systemLogLevel]).toEqual(["INFO", "WARN"]);
  });

  test("protect production's stack against deletion, and name service and environment on the bill", () => {
    const deployed = Object.values(environments).map((environment) => {
      const { artifactId, node } = ordersStack(environment);
      const { tags, terminationProtection } = (node.root as App).synth().getStackArtifact(artifactId);
      return { tags, terminationProtection };
    });
    // CloudFormation passes a stack's tags on to everything in it that can have any.
    const service = "pet-store-orders";
    expect(deployed).toEqual([
      { tags: { environment: "staging", service }, terminationProtection: false },
      { tags: { environment: "production", service }, terminationProtection: true },
    ]);
  });
});
