import { expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { mistakesIn } from "../../infra/stack/settings.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";

const { account, alarms, domain, throttling } = everyOption;
const { email: _email, ...silent } = alarms;
const { hostedZone: _, ...elsewhere } = domain;
const withFailures = (percent: number, canary = true) => ({
  alarms: { ...alarms, canary, functionFailures: { percent, atLeast: 1 } },
});
const webAclArn = "arn:aws:wafv2:us-east-1:111111111111:regional/webacl/a/1";
const topicArn = "arn:aws:sns:us-east-1:111111111111:on-call";
const certificateArn = "arn:aws:acm:us-east-1:111111111111:certificate/1";

const staging = { ...noOption, name: "staging", stackName: "Try", apiKeyPrefix: "try" };

const mistakes = (environments: Record<string, object>) =>
  mistakesIn({ staging, ...environments } as Record<string, Environment>);

const about = (...all: object[]): string =>
  all
    .map((settings) => mistakes({ "every-option": { ...everyOption, ...settings } }))
    .join("\n")
    .replaceAll("environments.every-option.", "");

test.each([
  ["no option", noOption],
  ["every option", everyOption],
  ["a long name of a stack", { stackName: "a".repeat(128) }],
  ["a limit that any canary reaches if it always fails", withFailures(9)],
  ["a higher limit without a canary", withFailures(50, false)],
  ["a domain whose record someone else creates", { domain: elsewhere }],
])("synthesis accepts %s", (_what, settings) => {
  const environment = { ...everyOption, ...settings };
  expect(mistakes({ [environment.name]: environment })).toBeUndefined();
});

test("synthesis stops with a line for each mistake in a setting", () => {
  const wrong = [
    { stackName: "Orders of ours" },
    { stackName: "a".repeat(129) },
    { apiKeyPrefix: "pets_Demo" },
    { account: { id: "11111111111", region: "eu-centrall-1" } },
    { writerAccounts: ["222222222222", "3333333333333"] },
    { webAclArn: topicArn },
    { webAclArn: webAclArn.replace("regional", "global") },
    { alarms: { ...alarms, topicArn: "arn:aws:sns:" } },
    { permissionsBoundary: "arn:aws:iam::111111111111:policy/bound" },
    { tags: { "aws:team": "orders", "": "orders", "team!": "orders" } },
    { throttling: { ...throttling, cancelOrder: { rateLimit: 5 } } },
    { listConcurrency: 0, tableThroughput: { reads: 0, writes: Number.NaN } },
    { authorizerCacheSeconds: 3601 },
    { name: "every option", dashboard: 1, ownsLogRole: true, writerAccounts: "2" },
    { tags: { team: 1 }, alarms: { ...alarms, email: "on-call" } },
    { throttling: { ...throttling, cancelOrder: { rateLimit: "5", burstLimit: 5 } } },
    { domain: { ...elsewhere, name: "orders.example.com/x", certificateArn: "1" } },
    { domain: { ...domain, hostedZone: { id: 1, name: 2 } } },
    { domain: "orders.example.com" },
    { logRetentionDays: 42, functionLogLevel: "WARN", systemLogLevel: "ERROR" },
    { listConcurency: 20, dashbord: true },
    { alarms: { ...alarms, canry: true } },
    withFailures(0),
    withFailures(101, false),
    withFailures(10),
    { webAclArn, alarms: { ...silent, topicArn }, domain: { ...domain, certificateArn } },
    { alarms: { ...alarms, topicArn: topicArn.replace("us-east-1", account.region) } },
    { webAclArn: everyOption.webAclArn.replace("1", "2") },
    { webAclArn: everyOption.webAclArn.replace("aws", "aws-cn") },
  ];
  expect(
    about(...wrong),
  ).toBe(`stackName must be a letter and up to 127 more letters, digits and hyphens, as CloudFormation requires, not 'Orders of ours'
stackName must be a letter and up to 127 more letters, digits and hyphens, as CloudFormation requires, not 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
apiKeyPrefix must be small letters and digits, in words that an underscore joins, not 'pets_Demo'
account.id must be 12 digits, not '11111111111'
account.region must be a region that CDK knows, not 'eu-centrall-1'
writerAccounts.1 must be 12 digits, not '3333333333333'
webAclArn must be an ARN like arn:aws:wafv2:REGION:ACCOUNT:regional/webacl/NAME/ID, not 'arn:aws:sns:us-east-1:111111111111:on-call'
webAclArn must be an ARN like arn:aws:wafv2:REGION:ACCOUNT:regional/webacl/NAME/ID, not 'arn:aws:wafv2:us-east-1:111111111111:global/webacl/a/1'
alarms.topicArn must be an ARN like arn:aws:sns:REGION:ACCOUNT:NAME, not 'arn:aws:sns:'
permissionsBoundary must be the name of a policy, not 'arn:aws:iam::111111111111:policy/bound'
tags.aws:team must be named with letters, digits, spaces and _.:/=+-@, and not begin with AWS's own aws:, not 'aws:team'
tags. must be named with letters, digits, spaces and _.:/=+-@, and not begin with AWS's own aws:, not ''
tags.team! must be named with letters, digits, spaces and _.:/=+-@, and not begin with AWS's own aws:, not 'team!'
throttling.cancelOrder.burstLimit must be a whole number above 0, not undefined
tableThroughput.reads must be a whole number above 0, not 0
tableThroughput.writes must be a whole number above 0, not NaN
listConcurrency must be a whole number above 0, not 0
authorizerCacheSeconds must be from 0 to 3600, not 3601
name must be letters, digits and hyphens, not 'every option'
ownsLogRole must be false, or left out, not true
writerAccounts must be a list of accounts, not '2'
dashboard must be true or false, not 1
tags.team must be text, not 1
alarms.email must be an email address, not 'on-call'
throttling.cancelOrder.rateLimit must be more than 0, not '5'
domain.name must be a domain name in small letters, not 'orders.example.com/x'
domain.certificateArn must be an ARN like arn:aws:acm:REGION:ACCOUNT:certificate/ID, not '1'
domain.hostedZone.id must be text, not 1
domain.hostedZone.name must be text, not 2
domain must be an object, not 'orders.example.com'
logRetentionDays must be one of CloudWatch's 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653, 9999, not 42
functionLogLevel must be DEBUG or INFO, not 'WARN'
systemLogLevel must be INFO or WARN, not 'ERROR'
environments.every-option has no setting listConcurency or dashbord
alarms has no setting canry
alarms.functionFailures.percent must be more than 0, not 0
alarms.functionFailures.percent must be at most 100, not 101
alarms.functionFailures.percent must be less than a canary's 10 %, not 10
webAclArn must be an ARN that begins with the stack's arn:aws:wafv2:eu-central-1:111111111111:, not 'arn:aws:wafv2:us-east-1:111111111111:regional/webacl/a/1'
domain.certificateArn must be an ARN that begins with the stack's arn:aws:acm:eu-central-1:111111111111:, not 'arn:aws:acm:us-east-1:111111111111:certificate/1'
alarms.topicArn must be an ARN that begins with the stack's arn:aws:sns:eu-central-1:, not 'arn:aws:sns:us-east-1:111111111111:on-call'
alarms.email must be left out beside alarms.topicArn, not 'on-call@example.com'
webAclArn must be an ARN that begins with the stack's arn:aws:wafv2:eu-central-1:111111111111:, not 'arn:aws:wafv2:eu-central-2:111111111111:regional/webacl/shops/1a2b'
webAclArn must be an ARN that begins with the stack's arn:aws:wafv2:eu-central-1:111111111111:, not 'arn:aws-cn:wafv2:eu-central-1:111111111111:regional/webacl/shops/1a2b'`);
});

test("synthesis names the mistakes of all environments, which share no name", () => {
  const third = { ...noOption, name: "third", authorizerCacheSeconds: 4000 };
  expect(
    mistakes({ "no-option": third, another: third }),
  ).toBe(`environments.no-option.authorizerCacheSeconds must be from 0 to 3600, not 4000
environments.another.authorizerCacheSeconds must be from 0 to 3600, not 4000
environments.no-option.name must be "no-option", not 'third'
environments.another.name must be "another", not 'third'
environments.another.stackName must be other than that of no-option, not 'PetStoreOrders-no-option'
environments.another.apiKeyPrefix must be other than that of no-option, not 'pets_none'`);
});

test("staging is there", () => {
  expect(mistakesIn({})).toBe(
    "environments.staging must be an environment (npm start serves it), not undefined",
  );
});
