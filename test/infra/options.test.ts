import type { App } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { readRestApi } from "../../infra/template/rest-api.ts";
import { StackTemplate } from "../../infra/template/stack-template.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { ordersStack, resources, templates } from "../helpers/synthesise.ts";

const { alarms, domain } = everyOption;
const optioned = Template.fromStack(ordersStack(everyOption));

/** The logical ids that a part of a template refers to. */
function references(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(references);
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) => {
    if (name === "Ref" && typeof value === "string") return [value];
    if (name === "Fn::GetAtt" && Array.isArray(value)) return [String(value[0])];
    if (name === "DependsOn") return [value].flat() as string[];
    return references(value);
  });
}

describe.each([...templates.map(([name, template]) => [name, template] as const), ["every option", optioned] as const])(
  "the template of %s",
  (_name, template) => {
    const all = template.toJSON()["Resources"] as Record<string, object>;

    test("has no circular dependency, which CloudFormation would notice only when deploying", () => {
      const done = new Set<string>();
      const visit = (id: string, path: string[]): void => {
        expect(path, "a circle").not.toContain(id);
        if (done.has(id)) return;
        for (const next of references(all[id])) if (next in all) visit(next, [...path, id]);
        done.add(id);
      };
      for (const id of Object.keys(all)) visit(id, []);
    });

    test("leaves the account's log role and setting behind for the account's other stacks", () => {
      const [account] = Object.entries(template.findResources("AWS::ApiGateway::Account"));
      if (account === undefined) return;
      const role = references(account[1]["Properties"])[0] ?? "";
      expect(account[1]).toMatchObject({ DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" });
      expect(all[role]).toMatchObject({ DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" });
      const [stage] = Object.values(template.findResources("AWS::ApiGateway::Stage"));
      expect(stage?.["DependsOn"]).toContain(account[0]);
    });

    test("creates the gateway's own log itself, so that it expires like the others", () => {
      const api = Object.keys(template.findResources("AWS::ApiGateway::RestApi"))[0];
      const log = resources(template, "AWS::Logs::LogGroup").find(([id]) => id.includes("ExecutionLog"));
      expect(log?.[1]["LogGroupName"]).toEqual({
        "Fn::Join": ["", ["API-Gateway-Execution-Logs_", { Ref: api }, "/v1"]],
      });
      const [stage] = Object.values(template.findResources("AWS::ApiGateway::Stage"));
      expect(stage?.["DependsOn"]).toContain(log?.[0]);
    });
  },
);

describe("options", () => {
  test("a custom domain takes TLS 1.2 or newer, maps /v1, is in its hosted zone, and is the only address", () => {
    optioned.hasResourceProperties("AWS::ApiGateway::DomainName", {
      DomainName: "orders.example.com",
      SecurityPolicy: "SecurityPolicy_TLS13_1_2_PQ_2025_09",
      EndpointAccessMode: "STRICT",
      EndpointConfiguration: { Types: ["REGIONAL"] },
    });
    optioned.hasResourceProperties("AWS::ApiGateway::BasePathMapping", { BasePath: "v1", Stage: Match.anyValue() });
    optioned.hasResourceProperties("AWS::ApiGateway::RestApi", { DisableExecuteApiEndpoint: true });
    optioned.hasResourceProperties("AWS::Route53::RecordSet", {
      Name: "orders.example.com.",
      Type: "A",
      HostedZoneId: "Z0000000000000000000",
    });
    expect(optioned.toJSON()["Outputs"].BaseUrl.Value).toBe("https://orders.example.com/v1");
  });

  test("the gateway's address goes on serving beside a custom domain for as long as clients need it", () => {
    const both = Template.fromStack(ordersStack({ ...everyOption, domain: { ...domain, keepGatewayAddress: true } }));
    both.hasResourceProperties("AWS::ApiGateway::RestApi", { DisableExecuteApiEndpoint: false });
    expect(both.toJSON()["Outputs"].BaseUrl.Value).toBe("https://orders.example.com/v1");
  });

  test.each(templates)("without a custom domain, %s is served at the gateway's address", (_name, template) => {
    template.resourceCountIs("AWS::ApiGateway::DomainName", 0);
    template.hasResourceProperties("AWS::ApiGateway::RestApi", { DisableExecuteApiEndpoint: false });
  });

  test("without a log role of its own, the stack leaves the account's setting alone", () => {
    optioned.resourceCountIs("AWS::ApiGateway::Account", 0);
    optioned.resourcePropertiesCountIs("AWS::IAM::Role", { ManagedPolicyArns: Match.anyValue() }, 1);
    optioned.hasResourceProperties("AWS::ApiGateway::Stage", { MethodSettings: Match.anyValue() });
  });

  test("a web ACL is associated with the stage", () => {
    const [stage] = Object.keys(optioned.findResources("AWS::ApiGateway::Stage"));
    const [[, association]] = resources(optioned, "AWS::WAFv2::WebACLAssociation") as [[string, object]];
    expect(association).toMatchObject({ WebACLArn: everyOption.webAclArn });
    expect(JSON.stringify(association)).toContain(`{"Ref":"${stage}"}`);
  });

  test("tags stand beside the stack's own two, which they can't replace", () => {
    const tagged = { ...everyOption, tags: { ...everyOption.tags, service: "another" } };
    const { artifactId, node } = ordersStack(tagged);
    expect((node.root as App).synth().getStackArtifact(artifactId).tags).toEqual({
      team: "orders",
      "cost-centre": "4711",
      service: "pet-store-orders",
      environment: "every-option",
    });
  });

  test("with an account and region, CDK deploys nowhere else", () => {
    expect(ordersStack(everyOption).environment).toBe("aws://111111111111/eu-central-1");
  });

  test("alarms tell the stack's topic, or one that the team has, when they go off and when they are over", () => {
    const topicArn = "arn:aws:sns:eu-central-1:111111111111:on-call";
    const { email: _, ...silent } = alarms;
    const own = Template.fromStack(ordersStack({ ...everyOption, alarms: { ...silent, topicArn } }));
    own.resourceCountIs("AWS::SNS::Topic", 0);
    const [topic] = Object.keys(optioned.findResources("AWS::SNS::Topic"));
    for (const [template, receiver] of [
      [own, topicArn],
      [optioned, { Ref: topic }],
    ] as const) {
      const count = Object.keys(template.findResources("AWS::CloudWatch::Alarm")).length;
      const actions = { AlarmActions: [receiver], OKActions: [receiver] };
      template.resourcePropertiesCountIs("AWS::CloudWatch::Alarm", actions, count);
      template.hasOutput("AlarmsTopicArn", { Value: receiver });
    }
  });

  test("an email address is subscribed to the alarms", () => {
    optioned.hasResourceProperties("AWS::SNS::Subscription", { Protocol: "email", Endpoint: "on-call@example.com" });
  });

  test("a limit on lists is set on that function alone", () => {
    const limits = (template: Template) =>
      resources(template, "AWS::Lambda::Function").map(([id, lambda]) => [
        id.replace(/[0-9A-F]{8}$/, ""),
        lambda["ReservedConcurrentExecutions"],
      ]);
    expect(Object.fromEntries(limits(optioned))).toEqual({ ListOrders: 20 });
    for (const [, template] of templates) expect(Object.fromEntries(limits(template))).toEqual({});
  });

  test("without a canary, an environment keeps its alarms and sends all requests to new code at once", () => {
    const urgent = Template.fromStack(ordersStack({ ...everyOption, alarms: { ...alarms, canary: false } }));
    expect(Object.keys(urgent.findResources("AWS::CloudWatch::Alarm"))).toEqual(
      Object.keys(optioned.findResources("AWS::CloudWatch::Alarm")),
    );
    // A role that is made moments before the next canary needs it may not work yet.
    urgent.templateMatches({ Resources: optioned.findResources("AWS::CodeDeploy::DeploymentGroup") });
    expect(JSON.stringify(urgent.findResources("AWS::Lambda::Alias"))).not.toContain("UpdatePolicy");
  });

  test("the stack with every option still runs on one machine", () => {
    // Restored tables are only in AWS, and the region is part of the addresses that are compared.
    const { restoredTables: _, account: __, webAclArn: ___, ...local } = everyOption;
    const read = (environment: Environment) =>
      readRestApi(new StackTemplate(Template.fromStack(ordersStack(environment)).toJSON()));
    const { apiKeyPrefix, authorizerCacheSeconds } = local;
    expect(read(local)).toEqual(read({ ...noOption, apiKeyPrefix, authorizerCacheSeconds }));
  });
});
