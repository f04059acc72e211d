import type { ApiKeyPrefix } from "../shared/api-keys.ts";

/**
 * Everything in which one deployed environment may differ from another, and the only place where it
 * may.
 */
export interface Environment {
  /** Its name in commands and the workflow, as in `--env staging`: its key in `environments`. */
  name: string;
  /** The name of the CloudFormation stack, and of the API in it. */
  stackName: string;
  /** The beginning of its API keys. No other environment has the same. */
  apiKeyPrefix: ApiKeyPrefix;
  /**
   * The only account and region it may be deployed to. Without it, the caller's credentials decide.
   */
  account?: { id: string; region: string };
  /**
   * The name of the policy in the account that bounds every role of the stack
   * (infra/PERMISSIONS.md).
   */
  permissionsBoundary?: string;
  /** Tags of everything in the stack that can have any, beside its own two (see `tagsOf`). */
  tags?: Record<string, string>;
  /** A domain of your own, which the base address then names. */
  domain?: OwnDomain;
  /** A web ACL that you have, in the region of the stack, for all requests to the API. */
  webAclArn?: `arn:${string}:wafv2:${string}`;
  /**
   * Set to false where the account has a role for API Gateway's logs already: one serves the
   * account and region.
   */
  ownsLogRole?: false;
  /**
   * Protects the stack and its tables from deletion, keeps the tables if it is deleted anyway, and
   * backs them up.
   */
  keepData: boolean;
  /**
   * Tables that `orders restore` or `keys restore` made, to use instead of the stack's own, which
   * stay as they are.
   */
  restoredTables?: { orders?: string; apiKeys?: string };
  /**
   * Restored tables that were in use until now: functions may use them for one more deployment,
   * while they move away.
   */
  formerTables?: { orders?: string; apiKeys?: string };
  /** Other AWS accounts whose teams may write orders, as shared/ORDERS-TABLE.md says. */
  writerAccounts?: string[];
  /**
   * A stream of the changes to orders, with old and new images, for other services. It costs
   * nothing until it is read.
   */
  ordersStream?: boolean;
  /**
   * The most request units a second that each table serves; beyond that, 503. It bounds what a
   * flood can cost.
   */
  tableThroughput: { reads: number; writes: number };
  /** How many seconds the gateway remembers an accepted key. A revoked key works for that long. */
  authorizerCacheSeconds: number;
  /**
   * Roughly how much each operation accepts; beyond that, 429. A cancellation takes one write unit.
   * Lists alone exhaust `tableThroughput.reads` once the table has reads / rateLimit * 8 KB:
   * `npm run costs` prints how many orders that is.
   */
  throttling: { listOrders: Throttling; cancelOrder: Throttling };
  /**
   * How many lists may run at once, so that they leave concurrency for cancellations. Further ones
   * get 500 `internal_error`, which rolls back no deployment. The account must keep 100 unreserved:
   * look up its quota first.
   */
  listConcurrency?: number;
  logRetentionDays: RetentionDays;
  /**
   * The access log holds callers' addresses beside the ids of their keys: personal data, so keep it
   * no longer than needed.
   */
  accessLogRetentionDays: RetentionDays;
  /** Never above INFO: the metrics are counted from INFO lines. */
  functionLogLevel: "DEBUG" | "INFO";
  /**
   * Lambda's own lines: with INFO one on every invocation, which has its memory and init time; with
   * WARN on failed ones.
   */
  systemLogLevel: "INFO" | "WARN";
  /** A CloudWatch dashboard, $3 a month (an account's first three are free). */
  dashboard?: boolean;
  /** Without it nothing is watched, and new code gets all requests at once. */
  alarms?: AlarmSettings;
}

/** The times that CloudWatch offers up to two years. */
type RetentionDays = 1 | 3 | 5 | 7 | 14 | 30 | 60 | 90 | 120 | 150 | 180 | 365 | 400 | 545 | 731;

export interface Throttling {
  /** Requests a second. */
  rateLimit: number;
  /** How many may come at once. */
  burstLimit: number;
}

export interface OwnDomain {
  /** For example `orders.example.com`; the base address is then `https://orders.example.com/v1`. */
  name: string;
  /** A certificate for the name, in the region of the stack. */
  certificateArn: `arn:${string}:acm:${string}`;
  hostedZone: { id: string; name: string };
  /**
   * Whether the gateway's own address still serves, too. Set it to false once no client uses that
   * address.
   */
  keepGatewayAddress: boolean;
}

export interface AlarmSettings {
  /** Whom to notify. AWS sends a link that must be confirmed once. */
  email?: string;
  /**
   * A topic of your own to notify, instead of the stack's. CloudWatch must be allowed to publish to
   * it.
   */
  topicArn?: `arn:${string}:sns:${string}`;
  /**
   * Sends a tenth of the requests to new code for ten minutes, and rolls it back when an alarm goes
   * off. No such deployment starts while an alarm is on; set to false to get an urgent fix through.
   */
  canary: boolean;
  /**
   * Failed invocations of one function and, separately, the 5xx that it makes the gateway respond,
   * in five minutes. New code that always fails makes it 10 % during the canary, however small its
   * operation's share of the traffic.
   */
  functionFailures: FailureShare;
  /** Well-formed keys that the authorizer rejected, of the requests in five minutes. */
  rejectedKeys: FailureShare;
  /**
   * The 99th percentile of a minute in milliseconds: a whole cancellation, and a list up to its
   * first page.
   */
  slow: { cancel: number; listFirstPage: number };
  /** How many in five minutes. */
  listsCutOff: number;
  functionThrottles: number;
  tableThrottles: number;
  /** Requests that got 429. */
  requestsThrottled: number;
}

/** An alarm's limit: this many percent, but only once there are at least so many. */
export interface FailureShare {
  percent: number;
  atLeast: number;
}

const staging: Environment = {
  name: "staging",
  stackName: "PetStoreOrders-staging",
  apiKeyPrefix: "pets_test",
  keepData: false,
  tableThroughput: { reads: 2000, writes: 500 },
  authorizerCacheSeconds: 10,
  throttling: {
    // Their limit: 2,000 / 2 * 8 KB = 8 MB.
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
    // Their limit: 12,000 / 10 * 8 KB = 9.6 MB.
    listOrders: { rateLimit: 10, burstLimit: 20 },
    cancelOrder: { rateLimit: 200, burstLimit: 400 },
  },
  logRetentionDays: 365,
  accessLogRetentionDays: 90,
  functionLogLevel: "INFO",
  systemLogLevel: "WARN",
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

/** The tags of everything that belongs to an environment. */
export function tagsOf({ name, tags }: Environment): Record<string, string> {
  return { ...tags, service: "pet-store-orders", environment: name };
}
