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
  test("domain: with or without one, every address takes only TLS 1.2 or newer", () => {
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

  test("domain: it switches the gateway's own address off unless that is kept", () => {
    const both = changed({ domain: { ...domain, keepGatewayAddress: true } });
    const isOff = (template: Template) =>
      resources(template, "AWS::ApiGateway::RestApi").map(
        ([, api]) => api["DisableExecuteApiEndpoint"],
      );
    expect([everything, both, nothing].map(isOff)).toEqual([[true], [false], [false]]);
  });

  test("domain: the output BaseUrl has it", () => {
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
    const { permissionsBoundary } = everyOption;
    const bounded = `arn:AWS::Partition:iam::111111111111:policy/${permissionsBoundary}`;
    expect(new Set(boundaries(everything))).toEqual(new Set([bounded]));
    expect(new Set(boundaries(nothing))).toEqual(new Set([undefined]));
  });

  const stackTags = (tags: Record<string, string>) => {
    const { artifactId, node } = ordersStack({ ...everyOption, tags });
    return (node.root as App).synth().getStackArtifact(artifactId).tags;
  };
  const ownTags = { service: "pet-store-orders", environment: "every-option" };

  test("tags: the stack has them beside its own two", () => {
    const tags = { team: "orders", "cost-centre": "4711" };
    expect(stackTags(tags)).toEqual({ ...tags, ...ownTags });
  });

  test("tags: they can't replace the stack's own two", () => {
    expect(stackTags({ service: "another", environment: "another" })).toEqual(ownTags);
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

  test("throttling: each operation has limits of its own", () => {
    expect(throttling()).toMatchObject({
      "GET /~1store~1orders": [7, 15],
      "DELETE /~1store~1orders~1{orderId}": [150, 300],
    });
  });

  test("throttling: all other requests share a low limit", () => {
    expect(throttling()).toMatchObject({ "* /*": [10, 20] });
  });

  test("listConcurrency: it limits ListOrders alone", () => {
    const limits = (template: Template) =>
      resources(template, "AWS::Lambda::Function").flatMap(
        ([id, { ReservedConcurrentExecutions: limit }]) =>
          limit === undefined ? [] : [[constructId(id), limit]],
      );
    expect(limits(everything)).toEqual([["ListOrders", 20]]);
    expect(limits(nothing)).toEqual([]);
  });

  test("keepData: it turns termination protection on", () => {
    expect(
      [everyOption, noOption].map((environment) => ordersStack(environment).terminationProtection),
    ).toEqual([true, false]);
  });

  const authorizers = resources(everything, "AWS::ApiGateway::Authorizer").map(
    ([, authorizer]) => authorizer,
  );

  test("apiKeyPrefix: the authorizer sees only keys with it", () => {
    const expression = "^[Bb][Ee][Aa][Rr][Ee][Rr] pets_every_[0-9A-Za-z]{49}$";
    expect(authorizers).toMatchObject([{ IdentityValidationExpression: expression }]);
  });

  test("authorizerCacheSeconds: the gateway remembers an accepted key for as long", () => {
    expect(authorizers).toMatchObject([{ AuthorizerResultTtlInSeconds: 45 }]);
  });

  // A stage serves what was last deployed.
  test.each<[setting: string, change: Partial<Environment>]>([
    ["apiKeyPrefix", { apiKeyPrefix: "pets_other" }],
    ["authorizerCacheSeconds", { authorizerCacheSeconds: 59 }],
  ])("%s: a change deploys the API again", (_setting, change) => {
    const deployments = (template: Template) =>
      Object.keys(template.findResources("AWS::ApiGateway::Deployment"));
    expect(deployments(changed({}))).toEqual(deployments(everything));
    expect(deployments(changed(change))).not.toEqual(deployments(everything));
  });

  const topicArn = "arn:aws:sns:eu-central-1:111111111111:on-call";
  const ownTopic = changed({ alarms: { ...alarms, topicArn } });
  const [topic] = Object.keys(everything.findResources("AWS::SNS::Topic"));

  describe.each([
    ["alarms.topicArn", ownTopic, topicArn],
    ["alarms", everything, { Ref: topic }],
  ])("%s:", (_setting, template, receiver) => {
    const notifying = resources(template, "AWS::CloudWatch::Alarm");

    test("every alarm notifies the topic when it goes off", () => {
      expect(notifying.length).toBeGreaterThan(0);
      for (const [id, { AlarmActions }] of notifying) expect(AlarmActions, id).toEqual([receiver]);
    });

    test("every alarm notifies the topic when it is over", () => {
      expect(notifying.length).toBeGreaterThan(0);
      for (const [id, { OKActions }] of notifying) expect(OKActions, id).toEqual([receiver]);
    });

    test("the topic notifies the email address", () => {
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
});

test("the local stack has the same API with every setting as with none", () => {
  // Restored tables are only in AWS, and the region is part of the addresses that are compared.
  const { restoredTables: _, formerTables: __, account: ___, ...local } = everyOption;
  const read = (environment: Environment) =>
    readRestApi(new StackTemplate(templateOf(environment).toJSON()));
  const { apiKeyPrefix, authorizerCacheSeconds } = local;
  expect(read(local)).toEqual(read({ ...noOption, apiKeyPrefix, authorizerCacheSeconds }));
});

type Aliases = Record<string, { Type: string; UpdatePolicy?: unknown }>;
