import type { App } from "aws-cdk-lib/core";
import { expect, test } from "vitest";
import { type Environment, environments } from "../../infra/environments.ts";
import { readRestApi } from "../../infra/tools/local/template/rest-api.ts";
import { readStackTemplate } from "../../infra/tools/local/template/stack-template.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { ordersStack, templateOf } from "../helpers/synthesise.ts";
import { synthesised } from "../tools/deploy/templates.ts";
import { differences } from "./differences.ts";

const { alarms, domain } = everyOption;
const { hostedZone: _, ...elsewhere } = domain;
const { email: __, ...silent } = alarms;

/** Each line names settings of the fixture that change together. */
const together = `apiKeyPrefix authorizerCacheSeconds
domain
permissionsBoundary
ownsLogRole
webAclArn
throttling tableThroughput functionLogLevel systemLogLevel
listConcurrency ordersStream writerAccounts dashboard
keepData`;

test("each setting changes only what it is about", () => {
  const fixture = Object.entries(everyOption);
  const topicArn = "arn:aws:sns:eu:1:on-call";
  const settings: Record<string, Partial<Environment>> = {
    "no cache, and flags and lists that say no, beside the gateway's address": {
      authorizerCacheSeconds: 0,
      domain: { ...domain, keepGatewayAddress: true },
      dashboard: false,
      ordersStream: false,
      writerAccounts: [],
      tags: {},
    },
    "domain with a record of someone else's, and two writers": {
      domain: elsewhere,
      writerAccounts: ["222222222222", "333333333333"],
    },
    "topicArn, and every limit of the alarms": {
      alarms: JSON.parse(JSON.stringify({ ...silent, topicArn }), (_name, value) =>
        typeof value === "number" ? value + 1 : value,
      ),
    },
  };
  for (const line of together.split("\n")) {
    const names = line.split(" ");
    settings[line] = Object.fromEntries(fixture.filter(([name]) => names.includes(name)));
  }
  const texts = Object.entries(settings).map(([name, changed]) => {
    const before = { ...noOption, ...(changed.alarms && { alarms }) };
    const after = { ...before, ...changed };
    return `\n${name}${differences(synthesised(before), synthesised(after))}`;
  });
  const everyAlarm = /(?:Alarms\/\w+, ){17}Alarms\/\w+/g;
  expect(texts.join("").replaceAll(everyAlarm, "18 alarms")).toBe(`
no cache, and flags and lists that say no, beside the gateway's address
  Outputs.BaseUrl: Value "https://<ApiRest4DEC74FE>.execute-api.<AWS::Region>.<AWS::URLSuffix>/v1" -> "https://orders.eu.example.com/v1"
  Api/BearerKeys: Properties.AuthorizerResultTtlInSeconds 15 -> 0
  Api/Domain/Name: added ApiGateway::DomainName
  Api/Domain/BasePath: added ApiGateway::BasePathMapping
  Api/Domain/Record: added Route53::RecordSet
domain with a record of someone else's, and two writers
  Outputs.BaseUrl: Value "https://<ApiRest4DEC74FE>.execute-api.<AWS::Region>.<AWS::URLSuffix>/v1" -> "https://orders.eu.example.com/v1"
  Orders: Properties.ResourcePolicy unset -> {"PolicyDocument":{"Statement":[{"Action":["dynamodb:GetItem","dynamodb:PutItem","dynamodb:UpdateItem","dynamodb:ConditionCheckItem"],"Effect":"Allow","Principal":{"AWS":["222222222222","333333333333"]},"Resource":"*"}],"Version":"2012-10-17"}}
  Api/Rest: Properties.DisableExecuteApiEndpoint false -> true
  Outputs.RegionalDomainName: added Output <ApiDomainNameE4918B96.RegionalDomainName>
  Api/Domain/Name: added ApiGateway::DomainName
  Api/Domain/BasePath: added ApiGateway::BasePathMapping
topicArn, and every limit of the alarms
  Outputs.AlarmsTopicArn: Value "<AlarmsTopic3A2DFEBA>" -> "arn:aws:sns:eu:1:on-call"
  Alarms/Topic: removed SNS::Topic
  Alarms/Topic/Policy: removed SNS::TopicPolicy
  Alarms/Topic/on-call@example.com: removed SNS::Subscription
  18 alarms: Properties.AlarmActions.0 "<AlarmsTopic3A2DFEBA>" -> "arn:aws:sns:eu:1:on-call"
  18 alarms: Properties.OKActions.0 "<AlarmsTopic3A2DFEBA>" -> "arn:aws:sns:eu:1:on-call"
  Alarms/ListOrdersTableThrottled, Alarms/CancelOrderTableThrottled, Alarms/AuthorizeTableThrottled: Properties.Threshold 50 -> 51
  Alarms/ListOrdersThrottled, Alarms/CancelOrderThrottled, Alarms/AuthorizeThrottled: Properties.Threshold 12 -> 13
  Alarms/ListOrdersFailing, Alarms/ListOrdersServerErrors, Alarms/CancelOrderFailing, Alarms/CancelOrderServerErrors, Alarms/AuthorizeFailing, Alarms/AuthorizeServerErrors, Alarms/ApiServerErrors: Properties.Metrics.0.Expression "IF(failed >= 3, 100 * failed / FILL(total, 1), 0)" -> "IF(failed >= 4, 100 * failed / FILL(total, 1), 0)"
  Alarms/ListOrdersFailing, Alarms/ListOrdersServerErrors, Alarms/CancelOrderFailing, Alarms/CancelOrderServerErrors, Alarms/AuthorizeFailing, Alarms/AuthorizeServerErrors, Alarms/ApiServerErrors: Properties.Threshold 5 -> 6
  Alarms/CancelSlow: Properties.Threshold 2000 -> 2001
  Alarms/ListSlow: Properties.Threshold 3000 -> 3001
  Alarms/ListsCutOff: Properties.Threshold 2 -> 3
  Alarms/KeysRejected: Properties.Metrics.0.Expression "IF(failed >= 20, 100 * failed / FILL(total, 1), 0)" -> "IF(failed >= 21, 100 * failed / FILL(total, 1), 0)"
  Alarms/KeysRejected: Properties.Threshold 10 -> 11
  Alarms/RequestsThrottled: Properties.Threshold 250 -> 251
apiKeyPrefix authorizerCacheSeconds
  Api/BearerKeys: Properties.AuthorizerResultTtlInSeconds 15 -> 45
  Api/BearerKeys: Properties.IdentityValidationExpression "^[Bb][Ee][Aa][Rr][Ee][Rr] +pets_none_[0-9A-Za-z]{49}$" -> "^[Bb][Ee][Aa][Rr][Ee][Rr] +pets_every_[0-9A-Za-z]{49}$"
domain
  Outputs.BaseUrl: Value "https://<ApiRest4DEC74FE>.execute-api.<AWS::Region>.<AWS::URLSuffix>/v1" -> "https://orders.eu.example.com/v1"
  Api/Rest: Properties.DisableExecuteApiEndpoint false -> true
  Api/Domain/Name: added ApiGateway::DomainName
  Api/Domain/BasePath: added ApiGateway::BasePathMapping
  Api/Domain/Record: added Route53::RecordSet
permissionsBoundary
  ListOrdersRole, CancelOrderRole, AuthorizeRole, Api/Rest/CloudWatchRole: Properties.PermissionsBoundary unset -> "arn:<AWS::Partition>:iam::<AWS::AccountId>:policy/orders-boundary"
ownsLogRole
  Api/Rest/CloudWatchRole: removed IAM::Role
  Api/Rest/Account: removed ApiGateway::Account
  Api/Rest/DeploymentStage.v1: DependsOn ["ApiExecutionLog4D3E3207","ApiRestAccountECB9C6D4"] -> ["ApiExecutionLog4D3E3207"]
webAclArn
  Api/WebAcl: added WAFv2::WebACLAssociation
throttling tableThroughput functionLogLevel systemLogLevel
  Orders, ApiKeys: Properties.OnDemandThroughput.MaxReadRequestUnits 800 -> 9000
  Orders, ApiKeys: Properties.OnDemandThroughput.MaxWriteRequestUnits 300 -> 1500
  ListOrders, CancelOrder, Authorize: Properties.LoggingConfig.ApplicationLogLevel "DEBUG" -> "INFO"
  ListOrders, CancelOrder, Authorize: Properties.LoggingConfig.SystemLogLevel "INFO" -> "WARN"
  Api/Rest/DeploymentStage.v1: Properties.MethodSettings.1.ThrottlingBurstLimit 12 -> 15
  Api/Rest/DeploymentStage.v1: Properties.MethodSettings.1.ThrottlingRateLimit 3 -> 7
  Api/Rest/DeploymentStage.v1: Properties.MethodSettings.2.ThrottlingBurstLimit 60 -> 300
  Api/Rest/DeploymentStage.v1: Properties.MethodSettings.2.ThrottlingRateLimit 25 -> 150
listConcurrency ordersStream writerAccounts dashboard
  Orders: Properties.ResourcePolicy unset -> {"PolicyDocument":{"Statement":[{"Action":["dynamodb:GetItem","dynamodb:PutItem","dynamodb:UpdateItem","dynamodb:ConditionCheckItem"],"Effect":"Allow","Principal":{"AWS":"222222222222"},"Resource":"*"}],"Version":"2012-10-17"}}
  Orders: Properties.StreamSpecification unset -> {"StreamViewType":"NEW_AND_OLD_IMAGES"}
  ListOrders: Properties.ReservedConcurrentExecutions unset -> 20
  Outputs.OrdersStreamArn: added Output <OrdersA9B65338.StreamArn>
  Dashboard/Dashboard: added CloudWatch::Dashboard
keepData
  Orders, ApiKeys: Properties.DeletionProtectionEnabled false -> true
  Orders, ApiKeys: Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled false -> true
  Orders, ApiKeys, ListOrdersLog, CancelOrderLog, AuthorizeLog, Api/AccessLog: UpdateReplacePolicy "Delete" -> "Retain"
  Orders, ApiKeys, ListOrdersLog, CancelOrderLog, AuthorizeLog, Api/AccessLog: DeletionPolicy "Delete" -> "Retain"`);
});

test("CDK deploys a stack to its account only, and protects it if it keeps data", () => {
  expect(ordersStack(everyOption)).toMatchObject({
    environment: "aws://111111111111/eu-central-1",
    terminationProtection: true,
  });
  expect(ordersStack(noOption).terminationProtection).toBe(false);
});

test("a stack's tags are its own two, and those of the setting, which win", () => {
  const tagsOf = (environment: Environment) => {
    const { artifactId, node } = ordersStack(environment);
    return (node.root as App).synth().getStackArtifact(artifactId).tags;
  };
  const own = { service: "pet-store-orders", environment: "no-option" };
  expect(tagsOf(noOption)).toEqual(own);
  const tags = { team: "orders", service: "shop" };
  expect(tagsOf({ ...noOption, tags })).toEqual({ ...own, ...tags });
});

test("the local stack serves every resource, and the same API, with every setting as with none", () => {
  // The region is part of the addresses that are compared.
  const { account: _, ...local } = everyOption;
  const read = (environment: Environment) => {
    const template = readStackTemplate(templateOf(environment).toJSON());
    expect(template.notServed).toEqual([]);
    template.all("AWS::DynamoDB::Table");
    template.all("AWS::Lambda::Function");
    return readRestApi(template);
  };
  const { apiKeyPrefix, authorizerCacheSeconds } = local;
  expect(read(local)).toEqual(
    read({ ...noOption, apiKeyPrefix, authorizerCacheSeconds }),
  );
});

test("unless they are a company's, production keeps data and has a canary, staging neither", () => {
  const ours = {
    staging: { keepData: false, apiKeyPrefix: "pets_test" },
    production: { keepData: true, apiKeyPrefix: "pets_live", alarms: { canary: true } },
  };
  const isOurs = environments.production.stackName === "PetStoreOrders-production";
  expect(isOurs ? environments : ours).toMatchObject(ours);
});
