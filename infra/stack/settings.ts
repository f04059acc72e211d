import { RegionInfo } from "aws-cdk-lib/region-info";
import { z } from "zod";
import { operations } from "./function-list.ts";

// The text of each rule says what a setting must be: "PATH must be TEXT, not VALUE".
const matching = (pattern: RegExp, text: string) => z.string(text).regex(pattern, text);
const flag = z.boolean("true or false");
const moreThanZero = z.number("more than 0").positive("more than 0");
const wholeNumber = z.int("a whole number above 0").positive("a whole number above 0");
const accountId = matching(/^\d{12}$/, "12 digits");
const tagKey = matching(
  /^(?!aws:)[\p{L}\p{Z}\p{N}_.:/=+@-]{1,128}$/iu,
  "letters, digits, spaces and _.:/=+-@, and not begin with AWS's own aws:",
);
const tableName = matching(/^[\w.-]{3,255}$/, "the name of a table");

/** An ARN of one of AWS's services, with a region and an account. */
function arn<Service extends string>(service: Service, resource = /[^:]+/, example = "NAME") {
  const place = z.string().regex(new RegExp(`[a-z\\d-]+:\\d{12}:${resource.source}`));
  return z.templateLiteral(
    ["arn:", z.string().regex(/aws[a-z-]*/), `:${service}:`, place],
    `an ARN like arn:aws:${service}:REGION:ACCOUNT:${example}`,
  );
}

/** The times that CloudWatch offers up to two years. */
const retentionDays = z.literal(
  [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731],
  "one of CloudWatch's 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545 or 731",
);

const tableNames = z.strictObject({
  orders: tableName.exactOptional(),
  apiKeys: tableName.exactOptional(),
});

const throttling = z.strictObject({
  /** Requests a second. */
  rateLimit: moreThanZero,
  /** How many may come at once. */
  burstLimit: wholeNumber,
});

const ownDomain = z.strictObject({
  /** For example `orders.example.com`; the base address is then `https://orders.example.com/v1`. */
  name: matching(/^[a-z\d-]+(\.[a-z\d-]+)+$/, "a domain name in small letters"),
  /** A certificate for the name, in the region of the stack. */
  certificateArn: arn("acm", /certificate\/.+/, "certificate/ID"),
  /**
   * Where the stack makes the name's DNS record. Without it, make that yourself: it points to the
   * output `RegionalDomainName`.
   */
  hostedZone: z.strictObject({ id: z.string("text"), name: z.string("text") }).exactOptional(),
  /**
   * Whether the gateway's own address still serves, too. Set it to false once no client uses that
   * address.
   */
  keepGatewayAddress: flag,
});

/** An alarm's limit: this many percent, but only once there are at least `atLeast`. */
const failureShare = z.strictObject({
  percent: moreThanZero.max(100, "at most 100"),
  atLeast: wholeNumber,
});

const alarmSettings = z.strictObject({
  /** Whom to notify. AWS sends a link that must be confirmed once. */
  email: z.email("an email address").exactOptional(),
  /**
   * A topic of your own to notify, instead of the stack's. CloudWatch must be allowed to publish to
   * it.
   */
  topicArn: arn("sns").exactOptional(),
  /**
   * Sends a tenth of the requests to new code for ten minutes, and rolls it back when an alarm goes
   * off. No such deployment starts while an alarm is on; set to false to get an urgent fix through.
   */
  canary: flag,
  /**
   * Failed invocations of one function and, separately, the 5xx that it makes the gateway respond,
   * in five minutes. New code that always fails makes it 10 % during the canary, however small its
   * operation's share of the traffic.
   */
  functionFailures: failureShare,
  /** Well-formed keys that the authorizer rejected, of the requests in five minutes. */
  rejectedKeys: failureShare,
  /**
   * The 99th percentile of a minute in milliseconds: a whole cancellation, and a list up to its
   * first page.
   */
  slow: z.strictObject({ cancel: moreThanZero, listFirstPage: moreThanZero }),
  /** How many in five minutes. */
  listsCutOff: wholeNumber,
  functionThrottles: wholeNumber,
  tableThrottles: wholeNumber,
  /** Requests that got 429. */
  requestsThrottled: wholeNumber,
});

/**
 * Everything in which one deployed environment may differ from another, and the only place where it
 * may.
 */
export const environmentSchema = z.strictObject({
  /** Its name in commands and the workflow, as in `--env staging`: its key in `environments`. */
  name: matching(/^[\w-]+$/, "letters, digits and hyphens"),
  /**
   * The name of the CloudFormation stack, and of the API in it. In the names that CloudFormation
   * makes of a longer one, it may be shortened, and policies for `STACK-*` don't match those.
   */
  stackName: matching(
    /^[A-Za-z][A-Za-z\d-]{0,24}$/,
    "at most 25 letters, digits and hyphens (CloudFormation shortens others)",
  ),
  /** The beginning of its API keys. No other environment has the same. */
  apiKeyPrefix: z.templateLiteral(
    ["pets_", z.string().regex(/[0-9a-z]+/)],
    "pets_ and then digits or small letters",
  ),
  /**
   * The only account and region it may be deployed to. Without it, the caller's credentials decide.
   */
  account: z
    .strictObject({
      id: accountId,
      region: z.enum(
        RegionInfo.regions.map(({ name }) => name),
        "a region of AWS",
      ),
    })
    .exactOptional(),
  /**
   * The name of the policy in the account that bounds every role of the stack
   * (infra/PERMISSIONS.md).
   */
  permissionsBoundary: matching(/^[\w+=,.@/-]+$/, "the name of a policy").exactOptional(),
  /** Tags of everything in the stack that can have any, beside its own two (see `tagsOf`). */
  tags: z.record(tagKey, z.string("text")).exactOptional(),
  /** A domain of your own, which the base address then names. */
  domain: ownDomain.exactOptional(),
  /** A web ACL that you have, in the region of the stack, for all requests to the API. */
  webAclArn: arn("wafv2", /regional\/webacl\/.+/, "regional/webacl/NAME/ID").exactOptional(),
  /**
   * Set to false where the account has a role for API Gateway's logs already: one serves the
   * account and region.
   */
  ownsLogRole: z.literal(false, "false, or left out").exactOptional(),
  /**
   * Protects the stack and its tables from deletion, keeps the tables and the logs of requests if
   * it is deleted anyway, and backs the tables up.
   */
  keepData: flag,
  /**
   * Tables that `orders restore` or `keys restore` made, to use instead of the stack's own, which
   * stay as they are.
   */
  restoredTables: tableNames.exactOptional(),
  /**
   * Restored tables that were in use until now: functions may use them for one more deployment,
   * while they move away.
   */
  formerTables: tableNames.exactOptional(),
  /** Other AWS accounts whose teams may write orders, as shared/ORDERS-TABLE.md says. */
  writerAccounts: z.array(accountId, "a list of accounts").exactOptional(),
  /**
   * A stream of the changes to orders, with old and new images, for other services. It costs
   * nothing until it is read.
   */
  ordersStream: flag.exactOptional(),
  /**
   * The most request units a second that each table serves; beyond that, 503. It bounds what a
   * flood can cost.
   */
  tableThroughput: z.strictObject({ reads: wholeNumber, writes: wholeNumber }),
  /**
   * How many seconds the gateway remembers an accepted key. A revoked or expired key works for that
   * long.
   */
  authorizerCacheSeconds: z
    .int("from 0 to 3600")
    .min(0, "from 0 to 3600")
    .max(3600, "from 0 to 3600"),
  /**
   * Roughly how much each operation accepts; beyond that, 429. A cancellation takes one write unit.
   * Lists alone exhaust `tableThroughput.reads` once the table has reads / rateLimit * 8 KB:
   * `npm run costs` prints how many orders that is.
   */
  throttling: z.record(z.enum(operations.map(({ name }) => name)), throttling),
  /**
   * How many lists may run at once, so that they leave concurrency for cancellations. Further ones
   * get 500 `internal_error`, which rolls back no deployment. The account must keep 100 unreserved:
   * look up its quota first.
   */
  listConcurrency: wholeNumber.exactOptional(),
  logRetentionDays: retentionDays,
  /**
   * The access log holds callers' addresses beside the ids of their keys: personal data, so keep it
   * no longer than needed.
   */
  accessLogRetentionDays: retentionDays,
  /** Never above INFO: the metrics are counted from INFO lines. */
  functionLogLevel: z.enum(["DEBUG", "INFO"], "DEBUG or INFO"),
  /**
   * Lambda's own lines: with INFO one on every invocation, which has its memory and init time; with
   * WARN on failed ones.
   */
  systemLogLevel: z.enum(["INFO", "WARN"], "INFO or WARN"),
  /** A CloudWatch dashboard, $3 a month (an account's first three are free). */
  dashboard: flag.exactOptional(),
  /** Without it nothing is watched, and new code gets all requests at once. */
  alarms: alarmSettings.exactOptional(),
});

export type Environment = z.infer<typeof environmentSchema>;
export type AlarmSettings = z.infer<typeof alarmSettings>;
export type FailureShare = z.infer<typeof failureShare>;
export type OwnDomain = z.infer<typeof ownDomain>;
export type Throttling = z.infer<typeof throttling>;
