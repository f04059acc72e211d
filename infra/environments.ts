import type { Environment } from "./stack/settings.ts";

export type { Environment };

// stack/settings.ts documents every setting.
const staging: Environment = {
  name: "staging",
  stackName: "PetStoreOrders-staging",
  apiKeyPrefix: "pets_test",
  keepData: false,
  tableThroughput: { reads: 2000, writes: 500 },
  authorizerCacheSeconds: 10,
  throttling: {
    // Lists alone exhaust the table's reads once it has 2,000 / 2 * 8 KB = 8 MB.
    listOrders: { rateLimit: 2, burstLimit: 20 },
    cancelOrder: { rateLimit: 20, burstLimit: 40 },
  },
  logRetentionDays: 14,
  accessLogRetentionDays: 14,
  functionLogLevel: "DEBUG",
  systemLogLevel: "INFO",
};

const production: Environment = {
  name: "production",
  stackName: "PetStoreOrders-production",
  apiKeyPrefix: "pets_live",
  keepData: true,
  tableThroughput: { reads: 12_000, writes: 2000 },
  authorizerCacheSeconds: 60,
  throttling: {
    // Lists alone exhaust the table's reads once it has 12,000 / 10 * 8 KB = 9.6 MB.
    listOrders: { rateLimit: 10, burstLimit: 20 },
    cancelOrder: { rateLimit: 200, burstLimit: 400 },
  },
  logRetentionDays: 365,
  accessLogRetentionDays: 90,
  functionLogLevel: "INFO",
  systemLogLevel: "WARN",
  // $3 a month, unless it is one of the account's first three.
  dashboard: true,
  alarms: {
    canary: true,
    functionFailures: { percent: 5, atLeast: 3 },
    rejectedKeys: { percent: 10, atLeast: 20 },
    slow: { cancel: 2000, listFirstPage: 3000 },
    listsCutOff: 3,
    functionThrottles: 10,
    tableThrottles: 50,
    requestsThrottled: 300,
  },
};

/** Every environment by its name. `npm start` serves staging on this machine. */
export const environments = { staging, production } satisfies Record<string, Environment>;

export type EnvironmentName = keyof typeof environments;
