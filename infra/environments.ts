import type { ApiKeyPrefix } from "../shared/api-keys.ts";

/** Everything in which one deployed environment may differ from another. A difference exists only here. */
export interface Environment {
  name: "staging" | "production";
  /** The CloudFormation stack, and the API within it. */
  stackName: string;
  apiKeyPrefix: ApiKeyPrefix;
  /** The one account and region it may be deployed to; without it, wherever the caller's credentials lead. */
  account?: { id: string; region: string };
  /** Its own address instead of the gateway's, which is then switched off. */
  domain?: OwnDomain;
  /** Whether the tables outlive their stack and can be restored to a point in time. */
  keepData: boolean;
  /** Names of tables restored from a backup, to be used in place of the stack's own ones, which stay as they are. */
  restoredTables?: { orders?: string; apiKeys?: string };
  /** Request units a second that a table serves at most; beyond it is 503. A bound on what a flood can cost. */
  tableThroughput: { reads: number; writes: number };
  /** Seconds that the gateway remembers an admitted key, and so that a revoked one may still be admitted. */
  authorizerCacheSeconds: number;
  /** Requests per second and burst that the stage lets through; beyond it is 429. */
  throttling: { rateLimit: number; burstLimit: number };
  logRetentionDays: 14 | 365;
  /** Never above INFO: the metrics are counted from lines of that level. */
  functionLogLevel: "DEBUG" | "INFO";
  /** Without it nothing is watched, and new code goes live all at once. */
  alarms?: AlarmSettings;
}

export interface OwnDomain {
  /** For example `orders.example.com`; the base address is then `https://orders.example.com/v1`. */
  name: string;
  /** A certificate for the name, in the region of the stack. */
  certificateArn: `arn:${string}:acm:${string}`;
  hostedZone: { id: string; name: string };
}

export interface AlarmSettings {
  /** Who is told, besides whoever subscribes to the topic. They have to confirm by a link once. */
  email?: string;
  /**
   * Whether new code first gets a tenth of the calls for ten minutes, and is taken back when an alarm goes off. No such
   * deployment begins while an alarm is on: set to false to let an urgent fix through.
   */
  canary: boolean;
  /** Of a minute's requests. A canary that always fails causes 10 %. */
  serverErrors: { percent: number; atLeast: number };
  /** The 99th percentile of a minute, in milliseconds: a cancellation whole, a list up to its first page. */
  slow: { cancel: number; listFirstPage: number };
  /** How many within five minutes. */
  authorizerFailures: number;
  listsCutOff: number;
  functionThrottles: number;
  tableThrottles: number;
}

const staging: Environment = {
  name: "staging",
  stackName: "PetStoreOrders-staging",
  apiKeyPrefix: "pets_test",
  keepData: false,
  tableThroughput: { reads: 2000, writes: 500 },
  authorizerCacheSeconds: 10,
  throttling: { rateLimit: 20, burstLimit: 40 },
  logRetentionDays: 14,
  functionLogLevel: "DEBUG",
};

const production: Environment = {
  name: "production",
  stackName: "PetStoreOrders-production",
  apiKeyPrefix: "pets_live",
  keepData: true,
  tableThroughput: { reads: 12_000, writes: 2000 },
  authorizerCacheSeconds: 60,
  throttling: { rateLimit: 200, burstLimit: 400 },
  logRetentionDays: 365,
  functionLogLevel: "INFO",
  alarms: {
    canary: true,
    serverErrors: { percent: 5, atLeast: 5 },
    slow: { cancel: 2000, listFirstPage: 3000 },
    authorizerFailures: 5,
    listsCutOff: 3,
    functionThrottles: 10,
    tableThrottles: 50,
  },
};

export const environments = { staging, production };
