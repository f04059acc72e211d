import { expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { mistakesIn } from "../../infra/stack/settings.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";

const { alarms, domain, throttling } = everyOption;
const { hostedZone: _, ...elsewhere } = domain;
const withFailures = (percent: number, canary = true) => ({
  alarms: { ...alarms, canary, functionFailures: { percent, atLeast: 1 } },
});
const webAclArn = "arn:aws:wafv2:us-east-1:111111111111:regional/webacl/a/1";
const topicArn = "arn:aws:sns:us-east-1:111111111111:on-call";
const certificateArn = "arn:aws:acm:us-east-1:111111111111:certificate/1";

const mistakes = (environments: Record<string, object>) =>
  mistakesIn(environments as Record<string, Environment>);

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
    { webAclArn, alarms: { ...alarms, topicArn }, domain: { ...domain, certificateArn } },
    { webAclArn: everyOption.webAclArn.replace("1", "2") },
    { webAclArn: everyOption.webAclArn.replace("aws", "aws-cn") },
  ];
  expect(about(...wrong)).toMatchInlineSnapshot();
});

test("synthesis names the mistakes of all environments, which share no name", () => {
  const third = { ...noOption, name: "third", authorizerCacheSeconds: 4000 };
  expect(mistakes({ "no-option": third, another: third })).toMatchInlineSnapshot(`
    "environments.no-option.authorizerCacheSeconds must be from 0 to 3600, not 4000
    environments.another.authorizerCacheSeconds must be from 0 to 3600, not 4000
    environments.no-option.name must be "no-option", not 'third'
    environments.another.name must be "another", not 'third'
    environments.another.stackName must be other than that of no-option, not 'PetStoreOrders-no-option'
    environments.another.apiKeyPrefix must be other than that of no-option, not 'pets_none'"
  `);
});
