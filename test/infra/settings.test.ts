import type { App } from "aws-cdk-lib/core";
import { expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { readRestApi } from "../../infra/local/template/rest-api.ts";
import { readTemplate } from "../../infra/local/template/stack-template.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { ordersStack, templateOf } from "../helpers/synthesise.ts";
import { changes } from "./differences.ts";

const { alarms, domain, permissionsBoundary, throttling, webAclArn } = everyOption;
const { hostedZone: _, ...elsewhere } = domain;

test("each setting changes only what it is about", () => {
  const settings: Record<string, Partial<Environment>> = {
    "another apiKeyPrefix": { apiKeyPrefix: "hafen_live" },
    "another authorizerCacheSeconds": { authorizerCacheSeconds: 59 },
    "domain with its hosted zone": { domain },
    "domain with a record of someone else's, beside the gateway's address": {
      domain: { ...elsewhere, keepGatewayAddress: true },
    },
    permissionsBoundary: { permissionsBoundary },
    "ownsLogRole: false": { ownsLogRole: false },
    webAclArn: { webAclArn },
    throttling: { throttling },
    listConcurrency: { listConcurrency: 20 },
    keepData: { keepData: true },
    ordersStream: { ordersStream: true },
    writerAccounts: { writerAccounts: ["222222222222", "333333333333"] },
    dashboard: { dashboard: true },
    "canary: false": { alarms: { ...alarms, canary: false } },
    topicArn: {
      alarms: { ...alarms, topicArn: "arn:aws:sns:eu-central-1:111111111111:on-call" },
    },
  };
  const texts = Object.entries(settings).map(([name, changed]) => {
    const before = { ...noOption, ...(changed.alarms && { alarms }) };
    return `\n${name}${changes(before, changed)}`;
  });
  // With another topic, every alarm changes like this one.
  const other = /^Alarms(?!CancelSlow|Topic)\w+\n(?: +(?:Alarm|OK)Actions.*\n)+/gm;
  const text = texts.join("");
  expect(text.match(other)).toHaveLength(17);
  expect(text.replaceAll(other, "")).toMatchInlineSnapshot(`
    "
    another apiKeyPrefix
    - AWS::ApiGateway::Deployment ApiRestDeployment
    ApiBearerKeys
      IdentityValidationExpression: ^[Bb][Ee][Aa][Rr][Ee][Rr] pets_none_[0-9A-Za-z]{49}$ -> ^[Bb][Ee][Aa][Rr][Ee][Rr] hafen_live_[0-9A-Za-z]{49}$
    + AWS::ApiGateway::Deployment ApiRestDeployment

    another authorizerCacheSeconds
    - AWS::ApiGateway::Deployment ApiRestDeployment
    ApiBearerKeys
      AuthorizerResultTtlInSeconds: 15 -> 59
    + AWS::ApiGateway::Deployment ApiRestDeployment

    domain with its hosted zone
    ApiRest
      DisableExecuteApiEndpoint: false -> true
    - AWS::ApiGateway::Deployment ApiRestDeployment
    BaseUrl
      Value: https://ApiRest.execute-api.AWS::Region.AWS::URLSuffix/v1 -> https://orders.eu.example.com/v1
    + AWS::ApiGateway::Deployment ApiRestDeployment
    + AWS::ApiGateway::DomainName ApiDomainName
    + AWS::ApiGateway::BasePathMapping ApiDomainBasePath
    + AWS::Route53::RecordSet ApiDomainRecord

    domain with a record of someone else's, beside the gateway's address
    BaseUrl
      Value: https://ApiRest.execute-api.AWS::Region.AWS::URLSuffix/v1 -> https://orders.eu.example.com/v1
    + AWS::ApiGateway::DomainName ApiDomainName
    + AWS::ApiGateway::BasePathMapping ApiDomainBasePath
    + Output RegionalDomainName

    permissionsBoundary
    ListOrdersRole
      PermissionsBoundary: nothing -> arn:AWS::Partition:iam::AWS::AccountId:policy/orders-boundary
    CancelOrderRole
      PermissionsBoundary: nothing -> arn:AWS::Partition:iam::AWS::AccountId:policy/orders-boundary
    AuthorizeRole
      PermissionsBoundary: nothing -> arn:AWS::Partition:iam::AWS::AccountId:policy/orders-boundary
    ApiRestCloudWatchRole
      PermissionsBoundary: nothing -> arn:AWS::Partition:iam::AWS::AccountId:policy/orders-boundary

    ownsLogRole: false
    - AWS::IAM::Role ApiRestCloudWatchRole
    - AWS::ApiGateway::Account ApiRestAccount
    ApiRestDeploymentStagev1
      DependsOn.1: ApiRestAccountECB9C6D4 -> nothing

    webAclArn
    + AWS::WAFv2::WebACLAssociation ApiWebAcl

    throttling
    ApiRestDeploymentStagev1
      MethodSettings.1.ThrottlingBurstLimit: 12 -> 15
      MethodSettings.1.ThrottlingRateLimit: 3 -> 7
      MethodSettings.2.ThrottlingBurstLimit: 60 -> 300
      MethodSettings.2.ThrottlingRateLimit: 25 -> 150

    listConcurrency
    ListOrders
      ReservedConcurrentExecutions: nothing -> 20

    keepData
    Orders
      DeletionProtectionEnabled: false -> true
      PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled: false -> true
      UpdateReplacePolicy: Delete -> Retain
      DeletionPolicy: Delete -> Retain
    ApiKeys
      DeletionProtectionEnabled: false -> true
      PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled: false -> true
      UpdateReplacePolicy: Delete -> Retain
      DeletionPolicy: Delete -> Retain
    ListOrdersLog
      UpdateReplacePolicy: Delete -> Retain
      DeletionPolicy: Delete -> Retain
    CancelOrderLog
      UpdateReplacePolicy: Delete -> Retain
      DeletionPolicy: Delete -> Retain
    AuthorizeLog
      UpdateReplacePolicy: Delete -> Retain
      DeletionPolicy: Delete -> Retain
    ApiAccessLog
      UpdateReplacePolicy: Delete -> Retain
      DeletionPolicy: Delete -> Retain

    ordersStream
    Orders
      StreamSpecification.StreamViewType: nothing -> NEW_AND_OLD_IMAGES
    + Output OrdersStreamArn

    writerAccounts
    Orders
      ResourcePolicy.PolicyDocument.Statement.0.Action.0: nothing -> dynamodb:GetItem
      ResourcePolicy.PolicyDocument.Statement.0.Action.1: nothing -> dynamodb:PutItem
      ResourcePolicy.PolicyDocument.Statement.0.Action.2: nothing -> dynamodb:UpdateItem
      ResourcePolicy.PolicyDocument.Statement.0.Effect: nothing -> Allow
      ResourcePolicy.PolicyDocument.Statement.0.Principal.AWS.0: nothing -> 222222222222
      ResourcePolicy.PolicyDocument.Statement.0.Principal.AWS.1: nothing -> 333333333333
      ResourcePolicy.PolicyDocument.Statement.0.Resource: nothing -> *
      ResourcePolicy.PolicyDocument.Version: nothing -> 2012-10-17

    dashboard
    + AWS::CloudWatch::Dashboard Dashboard

    canary: false
    ListOrdersAliaslive
      UpdatePolicy.CodeDeployLambdaAliasUpdate.ApplicationName: RolloutApplication -> nothing
      UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName: RolloutListOrders -> nothing
    CancelOrderAliaslive
      UpdatePolicy.CodeDeployLambdaAliasUpdate.ApplicationName: RolloutApplication -> nothing
      UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName: RolloutCancelOrder -> nothing
    AuthorizeAliaslive
      UpdatePolicy.CodeDeployLambdaAliasUpdate.ApplicationName: RolloutApplication -> nothing
      UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName: RolloutAuthorize -> nothing

    topicArn
    - AWS::SNS::Topic AlarmsTopic
    - AWS::SNS::TopicPolicy AlarmsTopicPolicy
    AlarmsTopiconcallexamplecom
      TopicArn: AlarmsTopic -> arn:aws:sns:eu-central-1:111111111111:on-call
    AlarmsCancelSlow
      AlarmActions.0: AlarmsTopic -> arn:aws:sns:eu-central-1:111111111111:on-call
      OKActions.0: AlarmsTopic -> arn:aws:sns:eu-central-1:111111111111:on-call
    AlarmsTopicArn
      Value: AlarmsTopic -> arn:aws:sns:eu-central-1:111111111111:on-call
    "
  `);
});

test("CDK deploys a stack to its account only, and protects it if it keeps data", () => {
  const environment = "aws://111111111111/eu-central-1";
  expect(ordersStack(everyOption)).toMatchObject({
    environment,
    terminationProtection: true,
  });
  expect(ordersStack(noOption).terminationProtection).toBe(false);
});

test("a stack's tags are its own two, and those of the setting, which win", () => {
  const tags = { team: "orders", service: "shop" };
  const { artifactId, node } = ordersStack({ ...everyOption, tags });
  const synthesised = (node.root as App).synth().getStackArtifact(artifactId);
  expect(synthesised.tags).toEqual({ ...tags, environment: "every-option" });
});

test("the local stack has the same API with every setting as with none", () => {
  // The region is part of the addresses that are compared.
  const { account: _, ...local } = everyOption;
  const read = (environment: Environment) =>
    readRestApi(readTemplate(templateOf(environment).toJSON()));
  const { apiKeyPrefix, authorizerCacheSeconds } = local;
  expect(read(local)).toEqual(read({ ...noOption, apiKeyPrefix, authorizerCacheSeconds }));
});
