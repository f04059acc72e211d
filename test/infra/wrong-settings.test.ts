import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { mistakesIn } from "../../infra/stack/settings.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";

const { account, alarms, domain, webAclArn } = everyOption;
const { email: _email, ...silent } = alarms;
const { hostedZone: _, ...elsewhere } = domain;
const inChina = JSON.parse(
  JSON.stringify({ account, domain, webAclArn })
    .replaceAll("arn:aws:", "arn:aws-cn:")
    .replaceAll("eu-central-1", "cn-north-1"),
);

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
  [
    "what is just long or large enough",
    {
      stackName: "a".repeat(128),
      tags: { ["t_.:/=+-@ 1".padEnd(128, "t")]: "" },
      permissionsBoundary: "shops/orders+=,.@_-1",
      authorizerCacheSeconds: 3600,
      alarms: {
        ...alarms,
        canary: false,
        functionFailures: { percent: 100, atLeast: 1 },
      },
    },
  ],
  [
    "what is just short or small enough, and a domain whose record someone else creates",
    {
      stackName: "a",
      authorizerCacheSeconds: 0,
      domain: elsewhere,
      alarms: { ...alarms, functionFailures: { percent: 9, atLeast: 1 } },
    },
  ],
  ["an account in China", inChina],
])("synthesis accepts %s", (_what, settings) => {
  const environment = { ...everyOption, ...settings };
  expect(mistakes({ [environment.name]: environment })).toBeUndefined();
});

const mistakeLines = `stackName must be a letter and up to 127 more letters, digits and hyphens, as CloudFormation requires, not 'Orders of ours'
stackName must be a letter and up to 127 more letters, digits and hyphens, as CloudFormation requires, not '1Orders'
stackName must be a letter and up to 127 more letters, digits and hyphens, as CloudFormation requires, not 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
apiKeyPrefix must be small letters and digits, in words that an underscore joins, not 'pets_Demo'
account.id must be 12 digits, not '11111111111'
account.region must be a region that CDK knows, not 'eu-centrall-1'
writerAccounts.0 must be 12 digits, not '3333333333333'
writerAccounts must be a list of accounts, not '2'
webAclArn must be an ARN like arn:aws:wafv2:REGION:ACCOUNT:regional/webacl/NAME/ID, not 'arn:aws:sns:eu-central-1:111111111111:on-call'
webAclArn must be an ARN like arn:aws:wafv2:REGION:ACCOUNT:regional/webacl/NAME/ID, not 'arn:aws:wafv2:eu-central-1:111111111111:global/webacl/a/1'
webAclArn must be an ARN that begins with the stack's arn:aws:wafv2:eu-central-1:111111111111:, not 'arn:aws:wafv2:us-east-1:111111111111:regional/webacl/a/1'
webAclArn must be an ARN that begins with the stack's arn:aws:wafv2:eu-central-1:111111111111:, not 'arn:aws:wafv2:eu-central-1:211111111111:regional/webacl/a/1'
webAclArn must be an ARN that begins with the stack's arn:aws:wafv2:eu-central-1:111111111111:, not 'arn:aws-cn:wafv2:eu-central-1:111111111111:regional/webacl/a/1'
permissionsBoundary must be the name of a policy, not 'arn:aws:iam::111111111111:policy/bound'
tags.aws:team must be named with letters, digits, spaces and _.:/=+-@, and not begin with AWS's own aws:, not 'aws:team'
tags.AWS:team must be named with letters, digits, spaces and _.:/=+-@, and not begin with AWS's own aws:, not 'AWS:team'
tags. must be named with letters, digits, spaces and _.:/=+-@, and not begin with AWS's own aws:, not ''
tags.team! must be named with letters, digits, spaces and _.:/=+-@, and not begin with AWS's own aws:, not 'team!'
tags.ttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt must be named with letters, digits, spaces and _.:/=+-@, and not begin with AWS's own aws:, not 'ttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt'
tags.team must be text, not 1
throttling.cancelOrder.burstLimit must be a whole number above 0, not undefined
throttling.cancelOrder.rateLimit must be more than 0, not '5'
throttling.cancelOrder.rateLimit must be more than 0, not 0
tableThroughput.reads must be a whole number above 0, not 1.5
tableThroughput.writes must be a whole number above 0, not NaN
listConcurrency must be a whole number above 0, not 0
authorizerCacheSeconds must be from 0 to 3600, not 3601
authorizerCacheSeconds must be from 0 to 3600, not -1
authorizerCacheSeconds must be from 0 to 3600, not 0.5
name must be letters, digits and hyphens, not 'every option'
ownsLogRole must be false, or left out, not true
dashboard must be true or false, not 1
domain must be an object, not 'orders.example.com'
domain.name must be a domain name in small letters, not 'orders.example.com/x'
domain.name must be a domain name in small letters, not 'orders'
domain.name must be a domain name in small letters, not 'Orders.example.com'
domain.certificateArn must be an ARN like arn:aws:acm:REGION:ACCOUNT:certificate/ID, not 'arn:aws:acm:eu-central-1:111111111111:key/1'
domain.certificateArn must be an ARN that begins with the stack's arn:aws:acm:eu-central-1:111111111111:, not 'arn:aws:acm:us-east-1:111111111111:certificate/1'
domain.hostedZone.id must be text, not 1
domain.hostedZone.name must be text, not 2
logRetentionDays must be one of CloudWatch's 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653, 9999, not 42
functionLogLevel must be DEBUG or INFO, not 'WARN'
systemLogLevel must be INFO or WARN, not 'ERROR'
alarms.email must be an email address, not 'on-call'
alarms.email must be an email address, not [ 'on-call@example.com', 'second-line@example.com', 'third-line@example.com' ]
alarms.topicArn must be an ARN like arn:aws:sns:REGION:ACCOUNT:NAME, not 'arn:aws:sns:eu-central-1::on-call'
alarms.topicArn must be an ARN like arn:aws:sns:REGION:ACCOUNT:NAME, not 'arn:aws:sns:eu-central-1:111111111111:on-call:1a2b'
alarms.topicArn must be an ARN that begins with the stack's arn:aws:sns:eu-central-1:, not 'arn:aws:sns:us-east-1:211111111111:on-call'
alarms.functionFailures.percent must be more than 0, not 0
alarms.rejectedKeys.percent must be at most 100, not 101
alarms.functionFailures.percent must be less than a canary's 10 %, not 10
account has no setting name
domain has no setting hostedzone
domain.hostedZone has no setting arn
tableThroughput has no setting read
throttling has no setting listorders
throttling.listOrders has no setting limit
alarms has no setting canry
alarms.slow has no setting list
alarms.rejectedKeys has no setting most`;

test("synthesis stops with a line for each mistake in a setting", () => {
  for (const line of mistakeLines.split("\n")) {
    // The setting and the wrong value that the line is about.
    const [path = ""] = line.replace(" has no setting ", ".").split(" must be ");
    const [value] = /(?<=, not ).+$/.exec(line) ?? [];
    const settings = structuredClone({ ...everyOption, alarms: silent });
    const names = path.split(".");
    const last = names.pop() ?? "";
    const owner = names.reduce<object>((part, name) => Reflect.get(part, name), settings);
    Reflect.set(owner, last, runInNewContext(`${value}`));
    expect(about(settings)).toBe(line);
  }
});

test("synthesis stops for a setting that isn't there, or can't stand beside another", () => {
  const topicArn = `arn:aws:sns:${account.region}:222222222222:on-call`;
  expect(
    about({ listConcurency: 20, dashbord: true }, { alarms: { ...alarms, topicArn } }),
  ).toBe(`environments.every-option has no setting listConcurency or dashbord
alarms.email must be left out beside alarms.topicArn, not 'on-call@example.com'`);
});

test("synthesis names the mistakes of all environments, which share no name and include staging", () => {
  const third = { ...noOption, name: "third", authorizerCacheSeconds: 4000 };
  expect(
    mistakes({ "no-option": third, another: third }),
  ).toBe(`environments.no-option.authorizerCacheSeconds must be from 0 to 3600, not 4000
environments.another.authorizerCacheSeconds must be from 0 to 3600, not 4000
environments.no-option.name must be "no-option", not 'third'
environments.another.name must be "another", not 'third'
environments.another.stackName must be other than that of no-option, not 'PetStoreOrders-no-option'
environments.another.apiKeyPrefix must be other than that of no-option, not 'pets_none'`);
  expect(mistakesIn({})).toBe(
    "environments.staging must be an environment (npm start serves it), not undefined",
  );
});
