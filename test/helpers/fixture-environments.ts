import type { Environment } from "../../infra/environments.ts";
import { operations } from "../../infra/stack/function-list.ts";

const everyOperation = Object.fromEntries(
  operations.map(({ name }) => [name, { rateLimit: 40, burstLimit: 80 }]),
) as Environment["throttling"];

/** Every setting, with values that are nobody's: any real one may change. */
export const everyOption = {
  name: "every-option",
  stackName: "PetStoreOrders-everything",
  apiKeyPrefix: "pets_every",
  account: { id: "111111111111", region: "eu-central-1" },
  permissionsBoundary: "orders-boundary",
  tags: { team: "orders", "cost-centre": "4711" },
  webAclArn: "arn:aws:wafv2:eu-central-1:111111111111:regional/webacl/shops/1a2b",
  ownsLogRole: false,
  domain: {
    name: "orders.eu.example.com",
    certificateArn: "arn:aws:acm:eu-central-1:111111111111:certificate/1a2b",
    hostedZone: { id: "Z0000000000000000000", name: "example.com" },
    keepGatewayAddress: false,
  },
  keepData: true,
  writerAccounts: ["222222222222"],
  ordersStream: true,
  tableThroughput: { reads: 9000, writes: 1500 },
  authorizerCacheSeconds: 45,
  throttling: {
    ...everyOperation,
    listOrders: { rateLimit: 7, burstLimit: 15 },
    cancelOrder: { rateLimit: 150, burstLimit: 300 },
  },
  listConcurrency: 20,
  logRetentionDays: 365,
  accessLogRetentionDays: 90,
  functionLogLevel: "INFO",
  systemLogLevel: "WARN",
  dashboard: true,
  alarms: {
    canary: true,
    email: "on-call@example.com",
    functionFailures: { percent: 5, atLeast: 3 },
    functionThrottles: 12,
    listsCutOff: 2,
    rejectedKeys: { percent: 10, atLeast: 20 },
    requestsThrottled: 250,
    slow: { cancel: 2000, listFirstPage: 3000 },
    tableThrottles: 50,
  },
} satisfies Environment;

/** The required settings only. */
export const noOption: Environment = {
  name: "no-option",
  stackName: "PetStoreOrders-no-option",
  apiKeyPrefix: "pets_none",
  keepData: false,
  logRetentionDays: 14,
  accessLogRetentionDays: 14,
  functionLogLevel: "DEBUG",
  systemLogLevel: "INFO",
  authorizerCacheSeconds: 15,
  throttling: {
    ...everyOperation,
    listOrders: { rateLimit: 3, burstLimit: 12 },
    cancelOrder: { rateLimit: 25, burstLimit: 60 },
  },
  tableThroughput: { reads: 800, writes: 300 },
};
