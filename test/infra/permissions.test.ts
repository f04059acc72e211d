import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { everyOption } from "../helpers/fixture-environments.ts";
import { rows, templateOf } from "../helpers/synthesise.ts";

interface Statement {
  Action: string | string[];
  Resource: string | string[];
}

type Call = [action: string, resource: string];

/** The statements of each policy of the page, by the heading above it. */
const policies = new Map<string, Statement[]>();
const page = await readFile(new URL("../../infra/PERMISSIONS.md", import.meta.url), "utf8");
let heading = "";
const parts = page.matchAll(/^#+ (?<title>[^\n]*)$|^ *```json\n(?<json>.*?)^ *```/gms);
for (const { groups: { title, json } = {} } of parts) {
  heading = title ?? heading;
  // A second policy below a heading is a boundary; one with a principal, the trust of a role.
  if (json && !json.includes('"Principal"')) {
    const name = policies.has(heading) ? `${heading}, boundary` : heading;
    policies.set(name, JSON.parse(json).Statement);
  }
}

/** The names of the tables that the page calls ORDERS and KEYS. */
const ordersTable = "STACK-Orders-1A2B";
const keysTable = "STACK-ApiKeys-1A2B";

const matches = (patterns: string | string[], text: string): boolean =>
  [patterns].flat().some((pattern) => {
    const named = pattern.replace(/ORDERS$/, ordersTable).replace(/KEYS$/, keysTable);
    const expression = RegExp.escape(named).replaceAll("\\*", ".*");
    return new RegExp(`^${expression}$`).test(text);
  });

/** Whether a policy allows a call of an action on a resource. */
function allows(policy: string, [action, resource]: Call): boolean {
  const statements = policies.get(policy);
  if (!statements) throw new Error(`The page has no policy ${policy}`);
  return statements.some(
    ({ Action, Resource }) => matches(Action, action) && matches(Resource, resource),
  );
}

/** An ARN of a service in the region and account of the page. */
const arn = (service: string, resource: string) => `arn:aws:${service}:REGION:ACCOUNT:${resource}`;
const role = (name: string) => `arn:aws:iam::ACCOUNT:role/${name}`;
const cdkRole = (name: string) => role(`cdk-hnb659fds-${name}-role-ACCOUNT-REGION`);
const zone = (id: string) => `arn:aws:route53:::hostedzone/${id}`;
const log = (group: string) => arn("logs", `log-group:${group}:*`);

const stack = arn("cloudformation", "stack/STACK/1a2b");
const orders = arn("dynamodb", `table/${ordersTable}`);
const apiKeys = arn("dynamodb", `table/${keysTable}`);
const copy = arn("dynamodb", "table/STACK-Orders-copy");
const lambda = arn("lambda", "function:STACK-CancelOrder-1A2B");
const ownRole = role("STACK-CancelOrderRole-1A2B");
const ownLog = log("STACK-CancelOrderLog-1A2B");
const topic = arn("sns", "STACK-AlarmsTopic-1A2B");
const gatewayRole = role(
  "aws-service-role/ops.apigateway.amazonaws.com/AWSServiceRoleForAPIGateway",
);
const cache = "arn:aws:apigateway:REGION::/restapis/1a2b/stages/v1/cache/authorizers";

/** Calls of a service's actions on a resource. */
const on = (resource: string, service: string, ...actions: string[]) =>
  actions.map((action): Call => [`${service}:${action}`, resource]);

/** What the tasks that a policy is for call. */
const needed: Record<string, Call[]> = {
  Orders: [
    ...on(stack, "cloudformation", "DescribeStacks"),
    ...on(orders, "dynamodb", "DescribeTable", "GetItem", "PutItem", "Scan", "UpdateItem"),
    ...on(orders, "dynamodb", "BatchGetItem"),
    ...on(apiKeys, "dynamodb", "Scan"),
  ],
  Keys: [
    ...on(stack, "cloudformation", "DescribeStacks", "ListStackResources"),
    ...on(apiKeys, "dynamodb", "GetItem", "PutItem", "Scan", "UpdateItem"),
    ...on(cache, "apigateway", "DELETE"),
  ],
  Repair: [
    ...on(orders, "dynamodb", "RestoreTableToPointInTime", "RestoreTableFromBackup"),
    ...on(copy, "dynamodb", "RestoreTableToPointInTime", "DescribeTable", "DeleteTable"),
    ...on(copy, "dynamodb", "Scan", "BatchGetItem"),
    ...on(apiKeys, "dynamodb", "Scan", "BatchGetItem", "PutItem", "UpdateItem"),
  ],
  Deploy: [
    ...on(cdkRole("deploy"), "sts", "AssumeRole"),
    ...on(cdkRole("file-publishing"), "sts", "AssumeRole"),
    ...on(stack, "cloudformation", "DescribeStacks", "GetTemplate"),
    ...on(apiKeys, "dynamodb", "PutItem", "DescribeTable"),
    ...on(orders, "dynamodb", "DescribeTable"),
  ],
  "On call": [
    ...on(stack, "cloudformation", "CancelUpdateStack", "ContinueUpdateRollback"),
    ...on(stack, "cloudformation", "DescribeStacks", "GetTemplate", "ListStackResources"),
    ...on(lambda, "lambda", "ListVersionsByFunction", "UpdateAlias"),
    ...on(cache, "apigateway", "DELETE"),
    ...on("arn:aws:apigateway:REGION::/restapis/1a2b", "apigateway", "GET"),
    ...on(ownLog, "logs", "FilterLogEvents", "DescribeLogGroups"),
    ...on("*", "cloudwatch", "DescribeAlarms", "GetDashboard", "GetMetricData"),
    ...on(cdkRole("deploy"), "sts", "AssumeRole"),
    ...on(cdkRole("file-publishing"), "sts", "AssumeRole"),
  ],
  Drift: on(stack, "cloudformation", "DetectStackDrift", "DescribeStackResourceDrifts"),
  Bootstrap: [
    ...on(ownLog, "logs", "CreateLogGroup", "DeleteLogGroup", "PutRetentionPolicy"),
    ...on(ownLog, "logs", "PutMetricFilter", "GetDataProtectionPolicy"),
    ...on(log("API-Gateway-Execution-Logs_1a2b/v1"), "logs", "CreateLogGroup"),
    ...on("*", "logs", "DescribeLogGroups", "DescribeIndexPolicies", "DescribeResourcePolicies"),
    ...on(gatewayRole, "iam", "CreateServiceLinkedRole"),
    ...on(zone("ZONE"), "route53", "ChangeResourceRecordSets"),
    ...on("*", "route53", "GetChange"),
    ...on("*", "acm", "DescribeCertificate"),
    ...on("*", "codedeploy", "CreateCloudFormationDeployment", "StopDeployment"),
    ...on("*", "codedeploy", "ContinueDeployment", "GetDeploymentConfig"),
    ...on(topic, "sns", "Subscribe"),
    ...on("*", "sns", "Unsubscribe", "GetSubscriptionAttributes", "SetSubscriptionAttributes"),
    ...on(ownRole, "iam", "PassRole"),
  ],
  "Bootstrap, boundary": [
    ...on(lambda, "lambda", "GetAlias", "UpdateAlias"),
    ...on("*", "cloudwatch", "DescribeAlarms"),
  ],
};

/** What a policy must not allow: another's parts, or more than its task needs. */
const excessive: Record<string, Call[]> = {
  Repair: on(orders, "dynamodb", "DeleteTable"),
  Bootstrap: [
    ...on(orders, "dynamodb", "Scan"),
    ...on(log("Other-CancelOrderLog-1A2B"), "logs", "DeleteLogGroup"),
    ...on(zone("OTHER"), "route53", "ChangeResourceRecordSets"),
  ],
  "Bootstrap, boundary": [
    ...on("*", "iam", "CreateUser"),
    ...on("*", "logs", "DeleteLogGroup"),
    ...on(lambda.replace("STACK", "Other"), "lambda", "UpdateAlias"),
  ],
  // It reads everything in the account.
  Deploy: on(cdkRole("lookup"), "sts", "AssumeRole"),
  "On call": on(cdkRole("lookup"), "sts", "AssumeRole"),
};

describe("the policy", () => {
  test.each(Object.entries(needed))("%s allows what its tasks need", (policy, calls) => {
    expect(calls.filter((call) => !allows(policy, call))).toEqual([]);
  });

  test.each(Object.entries(excessive))("%s allows no more than that", (policy, calls) => {
    expect(calls.filter((call) => allows(policy, call))).toEqual([]);
  });
});

/** The call that creates a resource of each type that an environment with every setting has. */
const creating: Record<string, Call[]> = {
  "AWS::ApiGateway": on("arn:aws:apigateway:REGION::/restapis", "apigateway", "POST"),
  "AWS::CloudWatch::Alarm": on("*", "cloudwatch", "PutMetricAlarm"),
  "AWS::CloudWatch::Dashboard": on("*", "cloudwatch", "PutDashboard"),
  "AWS::CodeDeploy": on(
    arn("codedeploy", "deploymentgroup:STACK-Rollout/STACK-CancelOrder"),
    "codedeploy",
    "CreateDeploymentGroup",
  ),
  "AWS::DynamoDB::Table": on(orders, "dynamodb", "CreateTable"),
  "AWS::IAM::Policy": on(ownRole, "iam", "PutRolePolicy"),
  "AWS::IAM::Role": on(ownRole, "iam", "CreateRole"),
  "AWS::Lambda": on(lambda, "lambda", "CreateFunction"),
  "AWS::Logs::LogGroup": on(ownLog, "logs", "CreateLogGroup"),
  "AWS::Logs::MetricFilter": on(ownLog, "logs", "PutMetricFilter"),
  "AWS::Route53::RecordSet": on(zone("ZONE"), "route53", "ChangeResourceRecordSets"),
  "AWS::SNS": on(topic, "sns", "CreateTopic"),
  "AWS::WAFv2::WebACLAssociation": on("*", "wafv2", "AssociateWebACL"),
};

test("the policy Bootstrap lets CloudFormation create whatever a setting asks for", () => {
  const all: { Type: string }[] = Object.values(templateOf(everyOption).toJSON()["Resources"]);
  const denied = [...new Set(all.map(({ Type }) => Type))].filter((type) => {
    const [, calls = []] = Object.entries(creating).find(([start]) => type.startsWith(start)) ?? [];
    return calls.length === 0 || !calls.every((call) => allows("Bootstrap", call));
  });
  expect(denied).toEqual([]);
});

test("the boundary allows what each function does", () => {
  const granted: string[] = rows(templateOf(everyOption), "AWS::IAM::Policy").flatMap(
    ([, { PolicyDocument }]) => PolicyDocument.Statement.flatMap(({ Action }: Statement) => Action),
  );
  expect(granted.length).toBeGreaterThan(0);
  const denied = granted.filter((action) => {
    const resource = action.startsWith("dynamodb:") ? orders : ownLog;
    return !allows("Bootstrap, boundary", [action, resource]);
  });
  expect(denied).toEqual([]);
});
