import type { Template } from "aws-cdk-lib/assertions";
import type { App } from "aws-cdk-lib/core";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { readRestApi } from "../../infra/template/rest-api.ts";
import { StackTemplate } from "../../infra/template/stack-template.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { constructId, named } from "../helpers/named.ts";
import { ordersStack, resources, templateOf } from "../helpers/synthesise.ts";

const { alarms, domain } = everyOption;
const everything = templateOf(everyOption);
const nothing = templateOf(noOption);
const changed = (settings: Partial<Environment>) => templateOf({ ...everyOption, ...settings });

describe("the setting", () => {
  test("domain: it takes TLS 1.2 or newer, like the gateway's own address", () => {
    const tls = {
      SecurityPolicy: "SecurityPolicy_TLS13_1_2_PQ_2025_09",
      EndpointAccessMode: "STRICT",
    };
    const addresses = [
      ...resources(everything, "AWS::ApiGateway::DomainName"),
      ...resources(everything, "AWS::ApiGateway::RestApi"),
      ...resources(nothing, "AWS::ApiGateway::RestApi"),
    ];
    expect(addresses).toHaveLength(3);
    for (const [, address] of addresses) expect(address).toMatchObject(tls);
  });

  test("domain: the gateway's own address serves, too, until it is switched off", () => {
    const both = changed({ domain: { ...domain, keepGatewayAddress: true } });
    const isOff = (template: Template) =>
      resources(template, "AWS::ApiGateway::RestApi").map(
        ([, api]) => api["DisableExecuteApiEndpoint"],
      );
    expect([everything, both, nothing].map(isOff)).toEqual([[true], [false], [false]]);
  });

  test("domain: the base address names it", () => {
    everything.hasOutput("BaseUrl", { Value: "https://orders.eu.example.com/v1" });
    expect(named(nothing.findOutputs("BaseUrl"))).toMatchObject({
      BaseUrl: { Value: "https://ApiRest.execute-api.AWS::Region.AWS::URLSuffix/v1" },
    });
  });

  test("domain: without a hosted zone, an output names what its record points to", () => {
    const { hostedZone: _, ...elsewhere } = domain;
    const template = changed({ domain: elsewhere });
    template.resourceCountIs("AWS::Route53::RecordSet", 0);
    const output = { RegionalDomainName: { Value: "ApiDomainName.RegionalDomainName" } };
    expect(named(template.findOutputs("RegionalDomainName"))).toEqual(output);
    everything.resourceCountIs("AWS::Route53::RecordSet", 1);
    expect(everything.findOutputs("RegionalDomainName")).toEqual({});
  });

  test("account: CDK deploys nowhere else", () => {
    expect(ordersStack(everyOption).environment).toBe("aws://111111111111/eu-central-1");
  });

  test("permissionsBoundary: every role has it", () => {
    const boundaries = (template: Template) =>
      resources(template, "AWS::IAM::Role").map(([, role]) => named(role["PermissionsBoundary"]));
    const bounded = `arn:AWS::Partition:iam::111111111111:policy/${everyOption.permissionsBoundary}`;
    expect(new Set(boundaries(everything))).toEqual(new Set([bounded]));
    expect(new Set(boundaries(nothing))).toEqual(new Set([undefined]));
  });

  test("tags: they stand beside the stack's own two and replace neither", () => {
    const { artifactId, node } = ordersStack({
      ...everyOption,
      tags: { ...everyOption.tags, service: "another" },
    });
    expect((node.root as App).synth().getStackArtifact(artifactId).tags).toEqual({
      team: "orders",
      "cost-centre": "4711",
      service: "pet-store-orders",
      environment: "every-option",
    });
  });

  test("webAclArn: it is associated with the stage", () => {
    const associations = resources(everything, "AWS::WAFv2::WebACLAssociation").map(
      ([, association]) => association,
    );
    expect(associations.map(named)).toEqual([
      {
        WebACLArn: everyOption.webAclArn,
        ResourceArn: expect.stringMatching(/ApiRest\/stages\/ApiRestDeploymentStagev1$/),
      },
    ]);
    nothing.resourceCountIs("AWS::WAFv2::WebACLAssociation", 0);
  });

  const throttling = () => {
    const settings = resources(everything, "AWS::ApiGateway::Stage").flatMap(
      ([, { MethodSettings }]) => MethodSettings as Record<string, unknown>[],
    );
    const limits = settings.map(
      ({ HttpMethod, ResourcePath, ThrottlingRateLimit, ThrottlingBurstLimit }) => [
        `${HttpMethod} ${ResourcePath}`,
        [ThrottlingRateLimit, ThrottlingBurstLimit],
      ],
    );
    return Object.fromEntries(limits);
  };

  test("throttling: each operation has its own", () => {
    expect(throttling()).toMatchObject({
      "GET /~1store~1orders": [7, 15],
      "DELETE /~1store~1orders~1{orderId}": [150, 300],
    });
  });

  test("throttling: all other requests share little", () => {
    expect(throttling()).toMatchObject({ "* /*": [10, 20] });
  });

  test("listConcurrency: it limits that function alone", () => {
    const limits = (template: Template) =>
      resources(template, "AWS::Lambda::Function").flatMap(
        ([id, { ReservedConcurrentExecutions: limit }]) =>
          limit === undefined ? [] : [[constructId(id), limit]],
      );
    expect(limits(everything)).toEqual([["ListOrders", 20]]);
    expect(limits(nothing)).toEqual([]);
  });

  test("keepData: it protects the stack", () => {
    expect(
      [everyOption, noOption].map((environment) => ordersStack(environment).terminationProtection),
    ).toEqual([true, false]);
  });

  test("apiKeyPrefix and authorizerCacheSeconds: the authorizer has them", () => {
    const authorizers = resources(everything, "AWS::ApiGateway::Authorizer");
    expect(authorizers.map(([, authorizer]) => authorizer)).toMatchObject([
      {
        IdentityValidationExpression: "^[Bb][Ee][Aa][Rr][Ee][Rr] pets_every_[0-9A-Za-z]{49}$",
        AuthorizerResultTtlInSeconds: 45,
      },
    ]);
  });

  // A stage serves what was last deployed.
  test("apiKeyPrefix and authorizerCacheSeconds: a change deploys the API anew", () => {
    const deployment = (template: Template) =>
      Object.keys(template.findResources("AWS::ApiGateway::Deployment"))[0];
    expect(deployment(changed({}))).toBe(deployment(everything));
    for (const change of [
      { authorizerCacheSeconds: 59 },
      { apiKeyPrefix: "pets_other" } as const,
    ]) {
      expect(deployment(changed(change)), JSON.stringify(change)).not.toBe(deployment(everything));
    }
  });

  const topicArn = "arn:aws:sns:eu-central-1:111111111111:on-call";
  const ownTopic = changed({ alarms: { ...alarms, topicArn } });
  const [topic] = Object.keys(everything.findResources("AWS::SNS::Topic"));

  describe.each([
    ["alarms.topicArn", ownTopic, topicArn],
    ["alarms", everything, { Ref: topic }],
  ])("%s:", (_setting, template, receiver) => {
    test("every alarm tells the topic when it goes off and when it is over", () => {
      const notifying = Object.values(template.findResources("AWS::CloudWatch::Alarm"));
      expect(notifying.length).toBeGreaterThan(0);
      for (const { Properties } of notifying)
        expect(Properties).toMatchObject({ AlarmActions: [receiver], OKActions: [receiver] });
    });

    test("the topic tells the email address", () => {
      const subscriptions = resources(template, "AWS::SNS::Subscription");
      expect(subscriptions.map(([, subscription]) => subscription)).toEqual([
        { Protocol: "email", Endpoint: alarms.email, TopicArn: receiver },
      ]);
    });

    test("an output names the topic", () => {
      const { AlarmsTopicArn } = template.findOutputs("AlarmsTopicArn");
      expect(AlarmsTopicArn).toEqual({ Value: receiver });
    });
  });

  test("alarms.topicArn: the stack has no topic of its own", () => {
    expect(ownTopic.findResources("AWS::SNS::Topic")).toEqual({});
  });

  test("dashboard: it needs no alarms", () => {
    const template = templateOf({ ...noOption, dashboard: true });
    expect(Object.keys(template.findResources("AWS::CloudWatch::Dashboard"))).toHaveLength(1);
  });

  test("alarms.canary: without it, all that changes is that new code gets all requests", () => {
    const urgent = changed({ alarms: { ...alarms, canary: false } }).toJSON()["Resources"];
    const usual: Aliases = everything.toJSON()["Resources"];
    for (const [id, { UpdatePolicy, ...resource }] of Object.entries(usual)) {
      expect(urgent[id]).toEqual(resource);
      expect(UpdatePolicy === undefined).toBe(resource.Type !== "AWS::Lambda::Alias");
    }
  });

  test("any: the stack with every one still runs on one machine", () => {
    // Restored tables are only in AWS, and the region is part of the addresses that are compared.
    const { restoredTables: _, formerTables: __, account: ___, ...local } = everyOption;
    const read = (environment: Environment) =>
      readRestApi(new StackTemplate(templateOf(environment).toJSON()));
    const { apiKeyPrefix, authorizerCacheSeconds } = local;
    expect(read(local)).toEqual(read({ ...noOption, apiKeyPrefix, authorizerCacheSeconds }));
  });
});

type Aliases = Record<string, { Type: string; UpdatePolicy?: unknown }>;
