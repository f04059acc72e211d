import { inspect } from "node:util";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { RegionInfo } from "aws-cdk-lib/region-info";
import { z } from "zod";
import { apiKeyPrefixes } from "../../shared/api-keys.ts";
import { operations } from "./function-list.ts";

// The text of each rule says what a setting must be: "SETTING must be TEXT, not VALUE".
const matching = (pattern: RegExp, text: string) =>
  // `abort` skips the checks between settings once one of them is malformed.
  z.string(text).regex(pattern, { abort: true });
const flag = z.boolean("true or false");
const moreThanZero = z.number("more than 0").positive();
const wholeNumber = z.int("a whole number above 0").positive();
const accountId = matching(/^\d{12}$/, "12 digits");
const tagKey = matching(
  /^(?!aws:)[\p{L}\p{Z}\p{N}_.:/=+@-]{1,128}$/iu,
  "named with letters, digits, spaces and _.:/=+-@, and not begin with AWS's own aws:",
);

/** An ARN of one of AWS's services, with a region and an account. */
const arn = (service: string, resource = "[^:]+", example = "NAME") =>
  matching(
    new RegExp(`^arn:aws[a-z-]*:${service}:[a-z\\d-]+:\\d{12}:${resource}$`),
    `an ARN like arn:aws:${service}:REGION:ACCOUNT:${example}`,
  );

const offeredDays = Object.values(RetentionDays).filter(Number).join(", ");
const retentionDays = z.enum(RetentionDays, `one of CloudWatch's ${offeredDays}`);

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
  certificateArn: arn("acm", "certificate/.+", "certificate/ID"),
  /**
   * Where the stack creates the name's DNS record. Without it, create one yourself that points to
   * the output `RegionalDomainName`.
   */
  hostedZone: z
    .strictObject({ id: z.string("text"), name: z.string("text") })
    .exactOptional(),
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
   * Sends a tenth of the requests to new code for ten minutes, and rolls it back when an alarm of
   * its function goes off. No such deployment starts while an alarm is on: see Roll back in ON-CALL.md.
   */
  canary: flag,
  /**
   * Failed invocations of one function and, separately, the 5xx that it makes the gateway respond,
   * in five minutes; and all 5xx of the API. New code that always fails makes it 10 % during the
   * canary, however small its operation's share of the traffic.
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
 * Everything in which one deployed environment may differ from another, besides a team's own parts
 * (`own.ts`).
 */
const settings = z.strictObject({
  /** The name in commands and the workflow, as in `--env staging`: the key in `environments`. */
  name: matching(/^[\w-]+$/, "letters, digits and hyphens"),
  /**
   * The name of the CloudFormation stack, and of the API in it. Beyond 25 letters, CloudFormation
   * shortens it in the names of functions and roles, and policies for `STACK-*` don't match those.
   */
  stackName: matching(
    /^[A-Za-z][A-Za-z\d-]{0,127}$/,
    "a letter and up to 127 more letters, digits and hyphens, as CloudFormation requires",
  ),
  /** The beginning of its API keys, like `hafen_live`. No other environment has the same. */
  apiKeyPrefix: matching(
    new RegExp(`^${apiKeyPrefixes}$`),
    "small letters and digits, in words that an underscore joins",
  ),
  /**
   * The only account and region it may be deployed to. Without it, the caller's credentials decide.
   */
  account: z
    .strictObject({
      id: accountId,
      region: z.enum(
        RegionInfo.regions.map(({ name }) => name),
        "a region that CDK knows",
      ),
    })
    .exactOptional(),
  /**
   * The name of the policy in the account that bounds every role of the stack
   * (infra/PERMISSIONS.md).
   */
  permissionsBoundary: matching(/^[\w+=,.@/-]+$/, "the name of a policy").exactOptional(),
  /** Tags of everything in the stack, beside or instead of its own `service` and `environment`. */
  tags: z.record(tagKey, z.string("text")).exactOptional(),
  /** A domain of your own, which the base address then names. */
  domain: ownDomain.exactOptional(),
  /** A web ACL that you have, in the region of the stack, for all requests to the API. */
  webAclArn: arn(
    "wafv2",
    "regional/webacl/.+",
    "regional/webacl/NAME/ID",
  ).exactOptional(),
  /**
   * Set to false where the account has a role for API Gateway's logs already: one serves the
   * account and region.
   */
  ownsLogRole: z.literal(false, "false, or left out").exactOptional(),
  /**
   * Protects the stack and its tables from deletion, keeps the tables, the functions' logs and the access
   * log if it is deleted anyway, and backs the tables up.
   */
  keepData: flag,
  /** Other AWS accounts whose teams may write orders, as shared/ORDERS-TABLE.md says. */
  writerAccounts: z.array(accountId, "a list of accounts").exactOptional(),
  /**
   * A stream of the changes to orders, with old and new images, for other services. It costs
   * nothing until it is read.
   */
  ordersStream: flag.exactOptional(),
  /**
   * The most request units a second that each table serves. Beyond that, clients get 503, or 500
   * when it is the table of keys. It limits what a flood can cost.
   */
  tableThroughput: z.strictObject({ reads: wholeNumber, writes: wholeNumber }),
  /**
   * How many seconds the gateway remembers an accepted key. A revoked or expired key works for that
   * long.
   */
  authorizerCacheSeconds: z.int("from 0 to 3600").min(0).max(3600),
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
  /** Without alarms, nothing is watched, and new code gets all requests at once. */
  alarms: alarmSettings.exactOptional(),
});

/** A setting that does not fit the others; the message says what it must be. */
const mistake = (path: string, input: unknown, message: string) =>
  ({ code: "custom", path: path.split("."), input, message }) as const;

/** An environment's settings, each of which also fits the others. */
const environmentSchema = settings.check(({ value, issues }) => {
  const { account, alarms, domain, webAclArn } = value;
  if (alarms?.topicArn && alarms.email)
    issues.push(mistake("alarms.email", alarms.email, "left out beside alarms.topicArn"));
  const percent = alarms?.functionFailures.percent ?? 0;
  if (alarms?.canary && percent >= 10)
    issues.push(
      mistake("alarms.functionFailures.percent", percent, "less than a canary's 10 %"),
    );
  if (account === undefined) return;
  const { id, region } = account;
  const { partition } = RegionInfo.get(region);
  const arns: [path: string, arn: string | undefined, start: string][] = [
    ["webAclArn", webAclArn, `arn:${partition}:wafv2:${region}:${id}:`],
    [
      "domain.certificateArn",
      domain?.certificateArn,
      `arn:${partition}:acm:${region}:${id}:`,
    ],
    // It may be in another account.
    ["alarms.topicArn", alarms?.topicArn, `arn:${partition}:sns:${region}:`],
  ];
  for (const [path, arn, start] of arns) {
    if (arn && !arn.startsWith(start))
      issues.push(mistake(path, arn, `an ARN that begins with the stack's ${start}`));
  }
});

/** Every environment by its name. */
const environmentsSchema = z
  .record(z.string(), environmentSchema)
  .check(({ value, issues }) => {
    const entries = Object.entries(value);
    for (const [key, environment] of entries) {
      const { name } = environment;
      if (name !== key) issues.push(mistake(`${key}.name`, name, `"${key}"`));
      for (const setting of ["stackName", "apiKeyPrefix"] as const) {
        const { [setting]: own } = environment;
        const [first] = entries.find(([, other]) => other[setting] === own) ?? [];
        if (first !== key)
          issues.push(mistake(`${key}.${setting}`, own, `other than that of ${first}`));
      }
    }
    if (!("staging" in value))
      issues.push(mistake("staging", undefined, "an environment (npm start serves it)"));
  });

/** A line for each mistake in the settings of all environments; undefined without any. */
export function mistakesIn(
  environments: Record<string, Environment>,
): string | undefined {
  const { error } = environmentsSchema.safeParse(environments, {
    reportInput: true,
    // A group of settings has no text of its own; that of a key is in the issue about the key.
    error: (issue) =>
      issue.code === "invalid_key" ? issue.issues[0]?.message : "an object",
  });
  return error?.issues.map(explain).join("\n");
}

/** A line about a mistake. The schema's text says what the setting must be. */
function explain(issue: z.core.$ZodIssue) {
  const setting = ["environments", ...issue.path].join(".");
  if (issue.code === "unrecognized_keys") {
    return `${setting} has no setting ${issue.keys.join(" or ")}`;
  }
  return `${setting} must be ${issue.message}, not ${inspect(issue.input, { breakLength: Infinity })}`;
}

export type Environment = z.infer<typeof settings>;
export type AlarmSettings = z.infer<typeof alarmSettings>;
export type Throttling = z.infer<typeof throttling>;
