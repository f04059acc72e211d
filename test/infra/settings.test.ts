import type { App } from "aws-cdk-lib/core";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { readRestApi } from "../../infra/local/template/rest-api.ts";
import { StackTemplate } from "../../infra/local/template/stack-template.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { ordersStack, templateOf } from "../helpers/synthesise.ts";
import { changes } from "./differences.ts";

const { alarms, domain, permissionsBoundary, throttling, webAclArn } = everyOption;
const { hostedZone: _, ...elsewhere } = domain;
const withAlarms = { ...noOption, alarms };

describe("the setting", () => {
  test("apiKeyPrefix lets in only keys that begin with it; a change deploys the API again", () => {
    expect(changes(noOption, { apiKeyPrefix: "hafen_live" })).toMatchInlineSnapshot(`
      "
      - AWS::ApiGateway::Deployment ApiRestDeployment
      ApiBearerKeys IdentityValidationExpression: ^[Bb][Ee][Aa][Rr][Ee][Rr] pets_none_[0-9A-Za-z]{49}$ -> ^[Bb][Ee][Aa][Rr][Ee][Rr] hafen_live_[0-9A-Za-z]{49}$
      + AWS::ApiGateway::Deployment ApiRestDeployment
      "
    `);
  });

  test("authorizerCacheSeconds is how long a key is remembered; a change deploys the API again", () => {
    expect(changes(noOption, { authorizerCacheSeconds: 59 })).toMatchInlineSnapshot(`
      "
      - AWS::ApiGateway::Deployment ApiRestDeployment
      ApiBearerKeys AuthorizerResultTtlInSeconds: 15 -> 59
      + AWS::ApiGateway::Deployment ApiRestDeployment
      "
    `);
  });

  test("domain is the base address, with a record in its hosted zone", () => {
    expect(changes(noOption, { domain })).toMatchInlineSnapshot(`
      "
      ApiRest DisableExecuteApiEndpoint: false -> true
      - AWS::ApiGateway::Deployment ApiRestDeployment
      BaseUrl Value: https://ApiRest.execute-api.AWS::Region.AWS::URLSuffix/v1 -> https://orders.eu.example.com/v1
      + AWS::ApiGateway::Deployment ApiRestDeployment
      + AWS::ApiGateway::DomainName ApiDomainName
      + AWS::ApiGateway::BasePathMapping ApiDomainBasePath
      + AWS::Route53::RecordSet ApiDomainRecord
      "
    `);
  });

  test("domain can leave the record to others, and keep the gateway's own address", () => {
    const both = { ...elsewhere, keepGatewayAddress: true };
    expect(changes(noOption, { domain: both })).toMatchInlineSnapshot(`
      "
      BaseUrl Value: https://ApiRest.execute-api.AWS::Region.AWS::URLSuffix/v1 -> https://orders.eu.example.com/v1
      + AWS::ApiGateway::DomainName ApiDomainName
      + AWS::ApiGateway::BasePathMapping ApiDomainBasePath
      + Output RegionalDomainName
      "
    `);
  });

  test("permissionsBoundary bounds every role", () => {
    expect(changes(noOption, { permissionsBoundary })).toMatchInlineSnapshot(`
      "
      ListOrdersRole PermissionsBoundary: nothing -> arn:AWS::Partition:iam::AWS::AccountId:policy/orders-boundary
      CancelOrderRole PermissionsBoundary: nothing -> arn:AWS::Partition:iam::AWS::AccountId:policy/orders-boundary
      AuthorizeRole PermissionsBoundary: nothing -> arn:AWS::Partition:iam::AWS::AccountId:policy/orders-boundary
      ApiRestCloudWatchRole PermissionsBoundary: nothing -> arn:AWS::Partition:iam::AWS::AccountId:policy/orders-boundary
      "
    `);
  });

  test("ownsLogRole leaves the account's role for logs alone", () => {
    expect(changes(noOption, { ownsLogRole: false })).toMatchInlineSnapshot(`
      "
      - AWS::IAM::Role ApiRestCloudWatchRole
      - AWS::ApiGateway::Account ApiRestAccount
      ApiRestDeploymentStagev1 DependsOn.1: ApiRestAccountECB9C6D4 -> nothing
      "
    `);
  });

  test("webAclArn puts the web ACL before the stage", () => {
    expect(changes(noOption, { webAclArn })).toMatchInlineSnapshot(`
      "
      + AWS::WAFv2::WebACLAssociation ApiWebAcl
      "
    `);
  });

  test("throttling limits each operation", () => {
    expect(changes(noOption, { throttling })).toMatchInlineSnapshot(`
      "
      ApiRestDeploymentStagev1 MethodSettings.1.ThrottlingBurstLimit: 12 -> 15
      ApiRestDeploymentStagev1 MethodSettings.1.ThrottlingRateLimit: 3 -> 7
      ApiRestDeploymentStagev1 MethodSettings.2.ThrottlingBurstLimit: 60 -> 300
      ApiRestDeploymentStagev1 MethodSettings.2.ThrottlingRateLimit: 25 -> 150
      "
    `);
  });

  test("listConcurrency limits lists, and nothing else", () => {
    expect(changes(noOption, { listConcurrency: 20 })).toMatchInlineSnapshot(`
      "
      ListOrders ReservedConcurrentExecutions: nothing -> 20
      "
    `);
  });

  test("keepData protects the stack, its tables and the logs of requests", () => {
    const kept: Environment = { ...noOption, keepData: true };
    expect(changes(noOption, { keepData: true })).toMatchInlineSnapshot(`
      "
      Orders DeletionProtectionEnabled: false -> true
      Orders PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled: false -> true
      Orders UpdateReplacePolicy: Delete -> Retain
      Orders DeletionPolicy: Delete -> Retain
      ApiKeys DeletionProtectionEnabled: false -> true
      ApiKeys PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled: false -> true
      ApiKeys UpdateReplacePolicy: Delete -> Retain
      ApiKeys DeletionPolicy: Delete -> Retain
      ListOrdersLog UpdateReplacePolicy: Delete -> Retain
      ListOrdersLog DeletionPolicy: Delete -> Retain
      CancelOrderLog UpdateReplacePolicy: Delete -> Retain
      CancelOrderLog DeletionPolicy: Delete -> Retain
      AuthorizeLog UpdateReplacePolicy: Delete -> Retain
      AuthorizeLog DeletionPolicy: Delete -> Retain
      ApiAccessLog UpdateReplacePolicy: Delete -> Retain
      ApiAccessLog DeletionPolicy: Delete -> Retain
      "
    `);
    const isProtected = [kept, noOption].map((one) => ordersStack(one).terminationProtection);
    expect(isProtected).toEqual([true, false]);
  });

  test("ordersStream is a stream of the orders, which an output names", () => {
    expect(changes(noOption, { ordersStream: true })).toMatchInlineSnapshot(`
      "
      Orders StreamSpecification.StreamViewType: nothing -> NEW_AND_OLD_IMAGES
      + Output OrdersStreamArn
      "
    `);
  });

  test("writerAccounts lets other accounts write orders, and do nothing else", () => {
    const writerAccounts = ["222222222222", "333333333333"];
    expect(changes(noOption, { writerAccounts })).toMatchInlineSnapshot(`
      "
      Orders ResourcePolicy.PolicyDocument.Statement.0.Action.0: nothing -> dynamodb:GetItem
      Orders ResourcePolicy.PolicyDocument.Statement.0.Action.1: nothing -> dynamodb:PutItem
      Orders ResourcePolicy.PolicyDocument.Statement.0.Action.2: nothing -> dynamodb:UpdateItem
      Orders ResourcePolicy.PolicyDocument.Statement.0.Effect: nothing -> Allow
      Orders ResourcePolicy.PolicyDocument.Statement.0.Principal.AWS.0: nothing -> 222222222222
      Orders ResourcePolicy.PolicyDocument.Statement.0.Principal.AWS.1: nothing -> 333333333333
      Orders ResourcePolicy.PolicyDocument.Statement.0.Resource: nothing -> *
      Orders ResourcePolicy.PolicyDocument.Version: nothing -> 2012-10-17
      "
    `);
  });

  test("dashboard needs no alarms", () => {
    expect(changes(noOption, { dashboard: true })).toMatchInlineSnapshot(`
      "
      + AWS::CloudWatch::Dashboard Dashboard
      "
    `);
  });

  test("alarms.canary set to false gives new code all requests at once", () => {
    const urgent = { alarms: { ...alarms, canary: false } };
    expect(changes(withAlarms, urgent)).toMatchInlineSnapshot(`
      "
      ListOrdersAliaslive UpdatePolicy.CodeDeployLambdaAliasUpdate.ApplicationName: RolloutApplication -> nothing
      ListOrdersAliaslive UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName: RolloutListOrders -> nothing
      CancelOrderAliaslive UpdatePolicy.CodeDeployLambdaAliasUpdate.ApplicationName: RolloutApplication -> nothing
      CancelOrderAliaslive UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName: RolloutCancelOrder -> nothing
      AuthorizeAliaslive UpdatePolicy.CodeDeployLambdaAliasUpdate.ApplicationName: RolloutApplication -> nothing
      AuthorizeAliaslive UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName: RolloutAuthorize -> nothing
      "
    `);
  });

  test("alarms.topicArn is notified by every alarm, instead of a topic of the stack", () => {
    const topicArn = "arn:aws:sns:eu-central-1:111111111111:on-call";
    const all = changes(withAlarms, { alarms: { ...alarms, topicArn } });
    // Every alarm changes like this one.
    const other = /^Alarms(?!CancelSlow|Topic)\w+ (?:Alarm|OK)Actions.*\n/gm;
    expect(all.replaceAll(other, "")).toMatchInlineSnapshot(`
      "
      - AWS::SNS::Topic AlarmsTopic
      - AWS::SNS::TopicPolicy AlarmsTopicPolicy
      AlarmsTopiconcallexamplecom TopicArn: AlarmsTopic -> arn:aws:sns:eu-central-1:111111111111:on-call
      AlarmsCancelSlow AlarmActions.0: AlarmsTopic -> arn:aws:sns:eu-central-1:111111111111:on-call
      AlarmsCancelSlow OKActions.0: AlarmsTopic -> arn:aws:sns:eu-central-1:111111111111:on-call
      AlarmsTopicArn Value: AlarmsTopic -> arn:aws:sns:eu-central-1:111111111111:on-call
      "
    `);
    expect(all.match(other)).toHaveLength(34);
  });
});

test("the account of a stack is the only one where CDK deploys it", () => {
  expect(ordersStack(everyOption).environment).toBe("aws://111111111111/eu-central-1");
});

test("a stack's tags are its own two, and those of the setting, which win", () => {
  const tagsWith = (tags: Record<string, string>) => {
    const { artifactId, node } = ordersStack({ ...everyOption, tags });
    return (node.root as App).synth().getStackArtifact(artifactId).tags;
  };
  const own = { service: "pet-store-orders", environment: "every-option" };
  expect(tagsWith({ team: "orders" })).toEqual({ ...own, team: "orders" });
  expect(tagsWith({ environment: "prod" })).toEqual({ ...own, environment: "prod" });
});

test("the local stack has the same API with every setting as with none", () => {
  // The region is part of the addresses that are compared.
  const { account: _, ...local } = everyOption;
  const read = (environment: Environment) =>
    readRestApi(new StackTemplate(templateOf(environment).toJSON()));
  const { apiKeyPrefix, authorizerCacheSeconds } = local;
  expect(read(local)).toEqual(read({ ...noOption, apiKeyPrefix, authorizerCacheSeconds }));
});
