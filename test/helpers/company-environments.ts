import type { Environment } from "../../infra/stack/settings.ts";

// A company's infra/environments.ts, which has followed all of "Make it yours" (infra/README.md).
// CI puts it over ours in a copy of the checkout, where all tests must pass.

export type { Environment };

const account = { id: "222222222222", region: "eu-west-1" };
const tags = { team: "pets", "cost-centre": "4711" };
const permissionsBoundary = "acme-boundary";
const webAclArn =
  "arn:aws:wafv2:eu-west-1:222222222222:regional/webacl/shops/5d1e7d58-1a2b-4c3d-8e4f-000000000000";

const staging: Environment = {
  name: "staging",
  stackName: "AcmeOrders-try",
  apiKeyPrefix: "pets_acmetry",
  account,
  tags,
  permissionsBoundary,
  webAclArn,
  ownsLogRole: false,
  keepData: false,
  tableThroughput: { reads: 1500, writes: 400 },
  authorizerCacheSeconds: 5,
  throttling: {
    listOrders: { rateLimit: 4, burstLimit: 10 },
    cancelOrder: { rateLimit: 15, burstLimit: 25 },
  },
  logRetentionDays: 7,
  accessLogRetentionDays: 3,
  functionLogLevel: "INFO",
  systemLogLevel: "WARN",
};

const production: Environment = {
  name: "production",
  stackName: "AcmeOrders-live",
  apiKeyPrefix: "pets_acme1",
  account: { id: "333333333333", region: "ap-southeast-2" },
  tags,
  permissionsBoundary,
  webAclArn:
    "arn:aws:wafv2:ap-southeast-2:333333333333:regional/webacl/shops/5d1e7d58-1a2b-4c3d-8e4f-000000000000",
  ownsLogRole: false,
  domain: {
    name: "orders.acme.example",
    certificateArn:
      "arn:aws:acm:ap-southeast-2:333333333333:certificate/5d1e7d58-1a2b-4c3d-8e4f-000000000000",
    hostedZone: { id: "Z0000000000000000000", name: "acme.example" },
    keepGatewayAddress: false,
  },
  keepData: true,
  restoredTables: {
    orders: "AcmeOrders-live-Orders-20261120080000",
    apiKeys: "AcmeOrders-live-ApiKeys-20261120080000",
  },
  formerTables: { orders: "AcmeOrders-live-Orders-20261113080000" },
  writerAccounts: ["444444444444", "555555555555"],
  ordersStream: true,
  tableThroughput: { reads: 20_000, writes: 3000 },
  authorizerCacheSeconds: 120,
  throttling: {
    listOrders: { rateLimit: 6, burstLimit: 12 },
    cancelOrder: { rateLimit: 300, burstLimit: 500 },
  },
  listConcurrency: 50,
  logRetentionDays: 180,
  accessLogRetentionDays: 30,
  functionLogLevel: "DEBUG",
  systemLogLevel: "INFO",
  dashboard: true,
  alarms: {
    topicArn: "arn:aws:sns:ap-southeast-2:333333333333:on-call",
    canary: false,
    functionFailures: { percent: 4, atLeast: 5 },
    rejectedKeys: { percent: 20, atLeast: 50 },
    slow: { cancel: 1500, listFirstPage: 2500 },
    listsCutOff: 5,
    functionThrottles: 20,
    tableThrottles: 100,
    requestsThrottled: 1000,
  },
};

const load: Environment = {
  ...staging,
  name: "load",
  stackName: "AcmeOrders-load",
  apiKeyPrefix: "pets_acmeload",
};

/** Every environment by its name. `npm start` serves staging on this machine. */
export const environments = { staging, production, load } satisfies Record<string, Environment>;

export type EnvironmentName = keyof typeof environments;

/** The tags of everything that belongs to an environment. */
export function tagsOf({ name, tags }: Environment): Record<string, string> {
  return { ...tags, service: "pet-store-orders", environment: name };
}
