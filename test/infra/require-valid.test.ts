import { describe, expect, test } from "vitest";
import type { Environment } from "../../infra/environments.ts";
import { requireValid } from "../../infra/stack/require-valid.ts";
import { CommandError } from "../../infra/terminal/errors.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";

/** A mistake: settings that replace those of every option, and the lines that report it. */
type Row = [mistake: string, settings: object, ...lines: string[]];

const { alarms, domain } = everyOption;
const { hostedZone: _, ...elsewhere } = domain;
const stackName = "PetStoreOrders-everything";
const orders = `${stackName}-Orders-20261120080000`;
const inUse = everyOption.restoredTables;

const failuresOf = (percent: number, canary = true) => ({
  alarms: { ...alarms, canary, functionFailures: { percent, atLeast: 1 } },
});

const acl = (region: string, scope: string) =>
  `arn:aws:wafv2:${region}:111111111111:${scope}/webacl/a/1`;
const aclForm = "an ARN like arn:aws:wafv2:REGION:ACCOUNT:regional/webacl/NAME/ID";
const certificateArn = "arn:aws:acm:us-east-1:111111111111:certificate/1";
const topic = (region: string) => `arn:aws:sns:${region}:111111111111:on-call` as const;
const policyArn = "arn:aws:iam::111111111111:policy/bound";
const shortName = "at most 25 letters, digits and hyphens (CloudFormation shortens others)";
const times = "1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545 or 731";
const tagKeys = "letters, digits, spaces and _.:/=+-@, and not begin with AWS's own aws:";

const rows: Row[] = [
  [
    "a stack name with a space",
    { stackName: "Orders of ours", restoredTables: {}, formerTables: {} },
    `stackName must be ${shortName}, not 'Orders of ours'`,
  ],
  [
    "a stack whose name CloudFormation would shorten",
    { stackName: `${stackName}s`, restoredTables: {}, formerTables: {} },
    `stackName must be ${shortName}, not '${stackName}s'`,
  ],
  [
    "a key prefix with a capital letter",
    { apiKeyPrefix: "pets_Demo" },
    "apiKeyPrefix must be pets_ and then digits or small letters, not 'pets_Demo'",
  ],
  [
    "a key prefix that only begins like one",
    { apiKeyPrefix: "pets_demo-1" },
    "apiKeyPrefix must be pets_ and then digits or small letters, not 'pets_demo-1'",
  ],
  [
    "a key prefix with a second underscore",
    { apiKeyPrefix: "pets_eu_test" },
    "apiKeyPrefix must be pets_ and then digits or small letters, not 'pets_eu_test'",
  ],
  [
    "an account that lacks a digit",
    { account: { id: "11111111111", region: "eu-central-1" } },
    "account.id must be 12 digits, not '11111111111'",
  ],
  [
    "a writer's account with a digit too many",
    { writerAccounts: ["222222222222", "3333333333333"] },
    "writerAccounts.1 must be 12 digits, not '3333333333333'",
  ],
  [
    "a region that AWS doesn't have",
    { account: { id: "111111111111", region: "eu-centrall-1" } },
    "account.region must be a region of AWS, not 'eu-centrall-1'",
  ],
  [
    "a web ACL of another region",
    { webAclArn: acl("us-east-1", "regional") },
    `webAclArn must be in the stack's eu-central-1, not ${acl("us-east-1", "regional")}`,
  ],
  [
    "a topic of another region",
    { alarms: { ...alarms, topicArn: topic("us-east-1") } },
    `alarms.topicArn must be in the stack's eu-central-1, not ${topic("us-east-1")}`,
  ],
  [
    "a certificate of another region",
    { domain: { ...domain, certificateArn } },
    `domain.certificateArn must be in the stack's eu-central-1, not ${certificateArn}`,
  ],
  [
    "an ARN of another service",
    { webAclArn: topic("eu-central-1") },
    `webAclArn must be ${aclForm}, not '${topic("eu-central-1")}'`,
  ],
  [
    "a web ACL that CloudFront alone can use",
    { webAclArn: acl("eu-central-1", "global") },
    `webAclArn must be ${aclForm}, not '${acl("eu-central-1", "global")}'`,
  ],
  [
    "an ARN that ends at its service",
    { alarms: { ...alarms, topicArn: "arn:aws:sns:" } },
    "alarms.topicArn must be an ARN like arn:aws:sns:REGION:ACCOUNT:NAME, not 'arn:aws:sns:'",
  ],
  [
    "a policy's ARN instead of its name",
    { permissionsBoundary: policyArn },
    `permissionsBoundary must be the name of a policy, not '${policyArn}'`,
  ],
  [
    "a tag that only AWS may set",
    { tags: { "aws:team": "orders" } },
    `a key of tags must be ${tagKeys}, not 'aws:team'`,
  ],
  ["a tag without a key", { tags: { "": "orders" } }, `a key of tags must be ${tagKeys}, not ''`],
  [
    "a tag whose key AWS rejects",
    { tags: { "team!": "orders" } },
    `a key of tags must be ${tagKeys}, not 'team!'`,
  ],
  [
    "a limit that is missing",
    { throttling: { ...everyOption.throttling, cancelOrder: { rateLimit: 5 } } },
    "throttling.cancelOrder.burstLimit is missing: it must be a whole number above 0",
  ],
  [
    "limits that let nothing through",
    { listConcurrency: 0, tableThroughput: { reads: 0, writes: Number.NaN } },
    "tableThroughput.reads must be a whole number above 0, not 0",
    "tableThroughput.writes must be a whole number above 0, not NaN",
    "listConcurrency must be a whole number above 0, not 0",
  ],
  [
    "a value where settings belong",
    { domain: "orders.example.com" },
    "domain must be an object, not 'orders.example.com'",
  ],
  [
    "a log retention that CloudWatch doesn't offer",
    { logRetentionDays: 42 },
    `logRetentionDays must be one of CloudWatch's ${times}, not 42`,
  ],
  [
    "a log level at which nothing is counted",
    { functionLogLevel: "WARN" },
    "functionLogLevel must be DEBUG or INFO, not 'WARN'",
  ],
  [
    "a setting that is misspelt",
    { listConcurency: 20, alarms: { ...alarms, canry: true } },
    "there is no setting alarms.canry",
    "there is no setting listConcurency",
  ],
  [
    "a limit that a canary which always fails might not reach",
    failuresOf(10),
    "alarms.functionFailures.percent must be less than a canary's 10 %, not 10",
  ],
  [
    "an alarm that is always on",
    failuresOf(0),
    "alarms.functionFailures.percent must be more than 0, not 0",
  ],
  [
    "a table that is restored and former",
    { formerTables: { orders: inUse.orders } },
    "restoredTables and formerTables name one table twice",
  ],
  [
    "restored tables that nothing protects",
    { keepData: false },
    "restoredTables and formerTables need keepData",
  ],
  [
    "a name that no table can have",
    { formerTables: { orders: `${stackName}-Orders of old` } },
    `formerTables.orders must be the name of a table, not '${stackName}-Orders of old'`,
  ],
  [
    "a table that policies don't match",
    { restoredTables: { orders: "old-orders" } },
    `restoredTables.orders must begin with ${stackName}-Orders, as policies do, not old-orders`,
  ],
  [
    "a table of orders in place of one of keys",
    { restoredTables: { apiKeys: orders } },
    `restoredTables.apiKeys must begin with ${stackName}-ApiKeys, as policies do, not ${orders}`,
  ],
];

const withLines = (...lines: string[]) => new CommandError(lines.join("\n"));
const beside = (settings: object): Environment => ({ ...everyOption, ...settings });

describe("synthesis stops", () => {
  test.each(rows)("for %s", (_mistake, settings, ...lines) => {
    const named = lines.map((line) => `environments.every-option: ${line}`);
    expect(() => requireValid({ "every-option": beside(settings) })).toThrow(withLines(...named));
  });

  test("with a line for each mistake in any environment", () => {
    expect(() =>
      requireValid({
        "every-option": beside({ logRetentionDays: 42, tags: { "aws:team": "orders" } }),
        "no-option": { ...noOption, authorizerCacheSeconds: 4000 },
      }),
    ).toThrow(
      /^environments\.every.*'aws:team'\nenvironments\.every.* not 42\nenvironments\.no.* 4000$/,
    );
  });

  test("for an entry that isn't named like its environment", () => {
    expect(() => requireValid({ other: noOption })).toThrow(
      withLines(`environments.other: its name must be "other", not "no-option"`),
    );
  });

  test.each<[what: string, own: Partial<Environment>, problem: string]>([
    ["stack", { apiKeyPrefix: "pets_two" }, "one stackName, PetStoreOrders-no-option"],
    ["key prefix", { stackName: "PetStoreOrders-two" }, "one apiKeyPrefix, pets_none"],
  ])("for environments that share a %s", (_what, own, problem) => {
    const another = { ...noOption, name: "another", ...own };
    expect(() => requireValid({ "no-option": noOption, another })).toThrow(
      withLines(`environments: no-option and another have ${problem}`),
    );
  });
});

describe("synthesis accepts", () => {
  test.each([
    ["every option", everyOption],
    ["no option", noOption],
  ])("%s", (_what, environment) => {
    expect(() => requireValid({ [environment.name]: environment })).not.toThrow();
  });

  test.each<[what: string, settings: object]>([
    ["a limit that any canary reaches if it always fails", failuresOf(9)],
    ["a higher limit without a canary", failuresOf(50, false)],
    ["a domain whose record someone else makes", { domain: elsewhere }],
  ])("%s", (_what, settings) => {
    expect(() => requireValid({ "every-option": beside(settings) })).not.toThrow();
  });
});
