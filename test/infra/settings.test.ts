import { Template } from "aws-cdk-lib/assertions";
import { CfnFunction } from "aws-cdk-lib/aws-lambda";
import type { App } from "aws-cdk-lib/core";
import { expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { readRestApi } from "../../infra/tools/local/template/rest-api.ts";
import { readStackTemplate } from "../../infra/tools/local/template/stack-template.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { ordersStack, templateOf } from "../helpers/synthesise.ts";
import { differences } from "./differences.ts";

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
    topicArn: { alarms: { ...alarms, topicArn: "arn:aws:sns:eu:1:on-call" } },
  };
  const texts = Object.entries(settings).map(([name, changed]) => {
    const before = { ...noOption, ...(changed.alarms && { alarms }) };
    return `\n${name}${differences(templateOf(before), templateOf({ ...before, ...changed }))}`;
  });
  const everyAlarm = /(?:Alarms\w+, ){17}Alarms\w+/;
  const redeployed =
    "ApiRestDeployment\n  removed: ApiGateway::Deployment\n  added: ApiGateway::Deployment";
  const text = texts.join("\n").replace(everyAlarm, "18 alarms");
  expect(text.replaceAll(redeployed, "Another deployment")).toMatchInlineSnapshot(`
    "
    another apiKeyPrefix
    Another deployment
    ApiBearerKeys
      IdentityValidationExpression: "^[Bb][Ee][Aa][Rr][Ee][Rr] pets_none_[0-9A-Za-z]{49}$" -> "^[Bb][Ee][Aa][Rr][Ee][Rr] hafen_live_[0-9A-Za-z]{49}$"

    another authorizerCacheSeconds
    Another deployment
    ApiBearerKeys
      AuthorizerResultTtlInSeconds: 15 -> 59

    domain with its hosted zone
    ApiRest
      DisableExecuteApiEndpoint: false -> true
    Another deployment
    BaseUrl
      Value: "https://ApiRest.execute-api.AWS::Region.AWS::URLSuffix/v1" -> "https://orders.eu.example.com/v1"
    ApiDomainName
      added: ApiGateway::DomainName
    ApiDomainBasePath
      added: ApiGateway::BasePathMapping
    ApiDomainRecord
      added: Route53::RecordSet

    domain with a record of someone else's, beside the gateway's address
    BaseUrl
      Value: "https://ApiRest.execute-api.AWS::Region.AWS::URLSuffix/v1" -> "https://orders.eu.example.com/v1"
    ApiDomainName
      added: ApiGateway::DomainName
    ApiDomainBasePath
      added: ApiGateway::BasePathMapping
    RegionalDomainName
      added: Output

    permissionsBoundary
    ListOrdersRole, CancelOrderRole, AuthorizeRole, ApiRestCloudWatchRole
      PermissionsBoundary: unset -> "arn:AWS::Partition:iam::AWS::AccountId:policy/orders-boundary"

    ownsLogRole: false
    ApiRestCloudWatchRole
      removed: IAM::Role
    ApiRestAccount
      removed: ApiGateway::Account
    ApiRestDeploymentStagev1
      DependsOn: ["ApiExecutionLog4D3E3207","ApiRestAccountECB9C6D4"] -> ["ApiExecutionLog4D3E3207"]

    webAclArn
    ApiWebAcl
      added: WAFv2::WebACLAssociation

    throttling
    ApiRestDeploymentStagev1
      MethodSettings.1.ThrottlingBurstLimit: 12 -> 15
      MethodSettings.1.ThrottlingRateLimit: 3 -> 7
      MethodSettings.2.ThrottlingBurstLimit: 60 -> 300
      MethodSettings.2.ThrottlingRateLimit: 25 -> 150

    listConcurrency
    ListOrders
      ReservedConcurrentExecutions: unset -> 20

    keepData
    Orders, ApiKeys
      DeletionProtectionEnabled: false -> true
      PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled: false -> true
    Orders, ApiKeys, ListOrdersLog, CancelOrderLog, AuthorizeLog, ApiAccessLog
      UpdateReplacePolicy: "Delete" -> "Retain"
      DeletionPolicy: "Delete" -> "Retain"

    ordersStream
    Orders
      StreamSpecification: unset -> {"StreamViewType":"NEW_AND_OLD_IMAGES"}
    OrdersStreamArn
      added: Output

    writerAccounts
    Orders
      ResourcePolicy: unset -> {"PolicyDocument":{"Statement":[{"Action":["dynamodb:GetItem","dynamodb:PutItem","dynamodb:UpdateItem"],"Effect":"Allow","Principal":{"AWS":["222222222222","333333333333"]},"Resource":"*"}],"Version":"2012-10-17"}}

    dashboard
    Dashboard
      added: CloudWatch::Dashboard

    topicArn
    AlarmsTopic
      removed: SNS::Topic
    AlarmsTopicPolicy
      removed: SNS::TopicPolicy
    AlarmsTopiconcallexamplecom
      TopicArn: "AlarmsTopic" -> "arn:aws:sns:eu:1:on-call", which replaces it
    18 alarms
      AlarmActions.0: "AlarmsTopic" -> "arn:aws:sns:eu:1:on-call"
      OKActions.0: "AlarmsTopic" -> "arn:aws:sns:eu:1:on-call"
    AlarmsTopicArn
      Value: "AlarmsTopic" -> "arn:aws:sns:eu:1:on-call""
  `);
});

test("a change of code replaces nothing but the functions' versions", () => {
  const withCode = (file: string) => {
    const stack = ordersStack(everyOption);
    for (const construct of stack.node.findAll()) {
      if (construct instanceof CfnFunction)
        construct.addPropertyOverride("Code.S3Key", file);
    }
    return Template.fromStack(stack);
  };
  expect(differences(withCode("one.zip"), withCode("other.zip"))).toMatchInlineSnapshot(`
    "
    ListOrders, CancelOrder, Authorize
      Code.S3Key: "one.zip" -> "other.zip"
    ListOrdersCurrentVersion, CancelOrderCurrentVersion, AuthorizeCurrentVersion
      removed: Lambda::Version
      added: Lambda::Version"
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
    readRestApi(readStackTemplate(templateOf(environment).toJSON()));
  const { apiKeyPrefix, authorizerCacheSeconds } = local;
  expect(read(local)).toEqual(
    read({ ...noOption, apiKeyPrefix, authorizerCacheSeconds }),
  );
});
