import { operations } from "../../infra/stack/function-list.ts";
import type { Environment } from "../../infra/stack/settings.ts";

// A company's infra/environments.ts, which has followed all of infra/MAKE-IT-YOURS.md.
// CI puts it over ours in a copy of the checkout, where all tests must pass.

export type { Environment };

const staging: Environment = {
  name: "staging",
  stackName: "AcmeOrders-try",
  apiKeyPrefix: "acme_try",
  ownsLogRole: false,
  account: { id: "222222222222", region: "eu-west-1" },
  webAclArn: "arn:aws:wafv2:eu-west-1:222222222222:regional/webacl/shops/1a2b",
  tags: { team: "pets", "cost-centre": "4711" },
  permissionsBoundary: "acme-boundary",
  keepData: false,
  throttling: throttlingOf({ rateLimit: 15, burstLimit: 25 }),
  tableThroughput: { reads: 1500, writes: 400 },
  authorizerCacheSeconds: 5,
  logRetentionDays: 7,
  accessLogRetentionDays: 3,
  functionLogLevel: "INFO",
  systemLogLevel: "WARN",
};

const load: Environment = {
  ...staging,
  name: "load",
  stackName: "AcmeOrders-load",
  apiKeyPrefix: "acme",
};

const production: Environment = {
  ...staging,
  name: "production",
  stackName: "AcmeOrders-live",
  apiKeyPrefix: "acme_eu_live",
  account: { id: "333333333333", region: "ap-southeast-2" },
  webAclArn: "arn:aws:wafv2:ap-southeast-2:333333333333:regional/webacl/shops/1a2b",
  domain: {
    name: "orders.acme.example",
    certificateArn: "arn:aws:acm:ap-southeast-2:333333333333:certificate/1a2b",
    hostedZone: { id: "Z0000000000000000000", name: "acme.example" },
    keepGatewayAddress: false,
  },
  keepData: true,
  writerAccounts: ["444444444444", "555555555555"],
  ordersStream: true,
  throttling: throttlingOf({ rateLimit: 300, burstLimit: 500 }),
  tableThroughput: { reads: 20_000, writes: 3000 },
  listConcurrency: 50,
  authorizerCacheSeconds: 120,
  functionLogLevel: "DEBUG",
  systemLogLevel: "INFO",
  logRetentionDays: 180,
  accessLogRetentionDays: 30,
  dashboard: true,
  alarms: {
    canary: false,
    topicArn: "arn:aws:sns:ap-southeast-2:333333333333:on-call",
    functionFailures: { percent: 4, atLeast: 5 },
    functionThrottles: 20,
    rejectedKeys: { percent: 20, atLeast: 50 },
    requestsThrottled: 1000,
    slow: { cancel: 1500, listFirstPage: 2500 },
    tableThrottles: 100,
    listsCutOff: 5,
  },
};

/** Every environment by its name. `npm start` serves staging on this machine. */
export const environments = { staging, production, load } satisfies Record<
  string,
  Environment
>;

export type EnvironmentName = keyof typeof environments;

/** The same limits for every operation. */
function throttlingOf(limits: { rateLimit: number; burstLimit: number }) {
  const entries = operations.map(({ name }) => [name, limits]);
  return Object.fromEntries(entries) as Environment["throttling"];
}
