import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { rows, templateOf } from "../helpers/synthesise.ts";

interface Statement {
  Action: string | string[];
  Resource: string | string[];
  Condition?: { StringEquals: Record<string, string[]> };
}

const policies: Record<string, Statement[]> = {};
const page = readFileSync("infra/PERMISSIONS.md", "utf8");
let heading = "";
for (const [, title, json] of page.matchAll(/^#+ ([^\n]*)$|^ *```json\n(.*?)^ *```/gms)) {
  heading = title ?? heading;
  // A second policy below a heading is a boundary.
  const name = policies[heading] ? `${heading}, boundary` : heading;
  if (json) policies[name] = JSON.parse(json).Statement;
}

const matches = (patterns: string | string[], text: string): boolean =>
  [patterns].flat().some((pattern) => {
    const expression = RegExp.escape(pattern).replaceAll("\\*", ".*");
    return new RegExp(`^${expression}$`).test(text);
  });

const allows = (policy: string, action: string, resource: string): boolean | undefined =>
  policies[policy]?.some(
    ({ Action, Resource }) => matches(Action, action) && matches(Resource, resource),
  );

const stack = "arn:aws:cloudformation:REGION:ACCOUNT:stack/STACK/1a2b";
const orders = "arn:aws:dynamodb:REGION:ACCOUNT:table/STACK-Orders0F1E-1A2B";
const apiKeys = "arn:aws:dynamodb:REGION:ACCOUNT:table/STACK-ApiKeys0F1E-1A2B";
const copy = "arn:aws:dynamodb:REGION:ACCOUNT:table/STACK-Orders0F1E-1A2B-copy";
const lambda = "arn:aws:lambda:REGION:ACCOUNT:function:STACK-CancelOrder-1A2B";
const role = "arn:aws:iam::ACCOUNT:role/STACK-CancelOrderRole-1A2B";
const logs = "arn:aws:logs:REGION:ACCOUNT:log-group";
const log = `${logs}:STACK-CancelOrderLog-1A2B:*`;
const api = "arn:aws:apigateway:REGION::/restapis";
const cache = `${api}/1a2b/stages/v1/cache/authorizers`;
const topic = "arn:aws:sns:REGION:ACCOUNT:STACK-AlarmsTopic-1A2B";
const zone = "arn:aws:route53:::hostedzone/ZONE";
const group =
  "arn:aws:codedeploy:REGION:ACCOUNT:deploymentgroup:STACK-Rollout/STACK-CancelOrder";
const [qualifier] = /(?<=role\/cdk-)\w+/.exec(page) ?? [];
const cdkRole = (name: string) =>
  `arn:aws:iam::ACCOUNT:role/cdk-${qualifier}-${name}-role-ACCOUNT-REGION`;
const alarm = "arn:aws:cloudwatch:REGION:ACCOUNT:alarm:STACK-AlarmsErrors-1A2B";
const dashboard = "arn:aws:cloudwatch::ACCOUNT:dashboard/STACK";
const gatewayRole =
  "arn:aws:iam::ACCOUNT:role/aws-service-role/ops.apigateway.amazonaws.com/AWSServiceRoleForAPIGateway";

/** Actions, with spaces between them, by the resource that they are called on. */
type Calls = Record<string, string>;

const callsOf = (calls: Calls) =>
  Object.entries(calls).flatMap(([resource, actions]) =>
    actions.split(/\s+/).map((action) => [action, resource] as const),
  );

const deploys: Calls = {
  [cdkRole("deploy")]: "sts:AssumeRole",
  [cdkRole("file-publishing")]: "sts:AssumeRole",
  [stack]: "cloudformation:DescribeStacks cloudformation:GetTemplate",
  [orders]: "dynamodb:DescribeTable",
  [apiKeys]: "dynamodb:DescribeTable",
};
const readsApi: Calls = {
  [`${api}/1a2b`]: "apigateway:GET",
  [api.replace("restapis", "account")]: "apigateway:GET",
  [api.replace("restapis", "domainnames/orders.example.com")]: "apigateway:GET",
};
// It reads everything in the account.
const cdkLooksUp: Calls = { [cdkRole("lookup")]: "sts:AssumeRole" };

/** What a policy's tasks call, and what would be too much. */
const tasks: Record<string, { needed: Calls; excessive?: Calls }> = {
  Orders: {
    needed: {
      [stack]: "cloudformation:DescribeStacks",
      [orders]:
        "dynamodb:BatchGetItem dynamodb:PutItem dynamodb:Scan dynamodb:UpdateItem",
      [apiKeys]: "dynamodb:Scan",
    },
    excessive: {
      [orders]: "dynamodb:DeleteItem",
      [apiKeys]: "dynamodb:BatchGetItem dynamodb:PutItem dynamodb:UpdateItem",
    },
  },
  "Undo an import": {
    needed: { [orders]: "dynamodb:DeleteItem" },
    excessive: { [apiKeys]: "dynamodb:DeleteItem" },
  },
  Keys: {
    needed: {
      [stack]: "cloudformation:DescribeStacks cloudformation:ListStackResources",
      [apiKeys]: "dynamodb:GetItem dynamodb:PutItem dynamodb:Scan dynamodb:UpdateItem",
      [cache]: "apigateway:DELETE",
    },
    excessive: { [orders]: "dynamodb:Scan" },
  },
  Repair: {
    needed: {
      [orders]: `dynamodb:RestoreTableToPointInTime dynamodb:RestoreTableFromBackup
        dynamodb:DescribeTable dynamodb:DescribeContinuousBackups dynamodb:ListTagsOfResource
        dynamodb:GetResourcePolicy`,
      [copy]: `dynamodb:RestoreTableToPointInTime dynamodb:DescribeTable dynamodb:DeleteTable
        dynamodb:Scan dynamodb:BatchGetItem`,
      [apiKeys]:
        "dynamodb:Scan dynamodb:BatchGetItem dynamodb:PutItem dynamodb:UpdateItem",
    },
    excessive: { [orders]: "dynamodb:DeleteTable" },
  },
  Deploy: {
    needed: {
      ...deploys,
      [apiKeys]: `${deploys[apiKeys]} dynamodb:PutItem`,
    },
    excessive: { ...cdkLooksUp, [orders]: "dynamodb:PutItem" },
  },
  "On call": {
    needed: {
      ...deploys,
      [stack]: `${deploys[stack]} cloudformation:CancelUpdateStack
        cloudformation:ContinueUpdateRollback cloudformation:ListStackResources`,
      [lambda]: "lambda:ListVersionsByFunction lambda:UpdateAlias",
      [cache]: "apigateway:DELETE",
      ...readsApi,
      [log]: "logs:FilterLogEvents logs:DescribeLogGroups",
      "*": "cloudwatch:DescribeAlarms cloudwatch:GetDashboard cloudwatch:GetMetricData",
    },
    excessive: cdkLooksUp,
  },
  Drift: {
    needed: {
      [stack]:
        "cloudformation:DetectStackDrift cloudformation:DescribeStackResourceDrifts",
      [orders]: "dynamodb:DescribeTable dynamodb:DescribeContributorInsights",
      [lambda]:
        "lambda:GetFunction lambda:GetAlias lambda:GetProvisionedConcurrencyConfig",
      [log]: "logs:GetDataProtectionPolicy",
      ...readsApi,
    },
    excessive: {
      [orders]: "dynamodb:GetItem",
      [api.replace("restapis", "apikeys/1a2b")]: "apigateway:GET",
    },
  },
  Bootstrap: {
    needed: {
      [log]: `logs:CreateLogGroup logs:DeleteLogGroup logs:PutRetentionPolicy logs:PutMetricFilter
        logs:GetDataProtectionPolicy`,
      [`${logs}:API-Gateway-Execution-Logs_1a2b/v1:*`]: "logs:CreateLogGroup",
      [gatewayRole]: "iam:CreateServiceLinkedRole",
      [zone]: "route53:ChangeResourceRecordSets",
      [topic]: "sns:Subscribe",
      [role]: "iam:PassRole",
      "*": `acm:DescribeCertificate codedeploy:ContinueDeployment
        codedeploy:CreateCloudFormationDeployment codedeploy:GetDeploymentConfig
        codedeploy:StopDeployment logs:DescribeIndexPolicies logs:DescribeLogGroups
        logs:DescribeResourcePolicies route53:GetChange sns:GetSubscriptionAttributes
        sns:SetSubscriptionAttributes sns:Unsubscribe`,
    },
    excessive: {
      [orders]: "dynamodb:Scan",
      [alarm.replace("STACK", "Other")]: "cloudwatch:DeleteAlarms",
      [`${logs}:Other-CancelOrderLog-1A2B:*`]: "logs:DeleteLogGroup",
      [zone.replace("ZONE", "OTHER")]: "route53:ChangeResourceRecordSets",
    },
  },
  "Bootstrap, boundary": {
    needed: {
      [lambda]: "lambda:GetAlias lambda:UpdateAlias",
      "*": "cloudwatch:DescribeAlarms",
    },
    excessive: {
      [lambda.replace("STACK", "Other")]: "lambda:UpdateAlias",
      "*": "iam:CreateUser logs:DeleteLogGroup",
    },
  },
};

test.each(Object.entries(tasks))(
  "the policy %s allows what its tasks need, and no more",
  (policy, { needed, excessive = {} }) => {
    expect(callsOf(needed).filter((call) => !allows(policy, ...call))).toEqual([]);
    expect(callsOf(excessive).filter((call) => allows(policy, ...call))).toEqual([]);
  },
);

/** The call that creates a resource of each type. */
const creating: Record<string, [action: string, resource: string]> = {
  "AWS::ApiGateway": ["apigateway:POST", api],
  "AWS::CloudWatch::Alarm": ["cloudwatch:PutMetricAlarm", alarm],
  "AWS::CloudWatch::Dashboard": ["cloudwatch:PutDashboard", dashboard],
  "AWS::CodeDeploy": ["codedeploy:CreateDeploymentGroup", group],
  "AWS::DynamoDB::Table": ["dynamodb:CreateTable", orders],
  "AWS::IAM::Policy": ["iam:PutRolePolicy", role],
  "AWS::IAM::Role": ["iam:CreateRole", role],
  "AWS::Lambda": ["lambda:CreateFunction", lambda],
  "AWS::Logs::LogGroup": ["logs:CreateLogGroup", log],
  "AWS::Logs::MetricFilter": ["logs:PutMetricFilter", log],
  "AWS::Route53::RecordSet": ["route53:ChangeResourceRecordSets", zone],
  "AWS::SNS": ["sns:CreateTopic", topic],
  "AWS::WAFv2::WebACLAssociation": ["wafv2:AssociateWebACL", "*"],
};

test("the policy Bootstrap lets CloudFormation create whatever a setting asks for", () => {
  const all: { Type: string }[] = Object.values(
    templateOf(everyOption).toJSON()["Resources"],
  );
  const denied = all.filter(({ Type }) => {
    const [, call] =
      Object.entries(creating).find(([start]) => Type.startsWith(start)) ?? [];
    return !(call && allows("Bootstrap", ...call));
  });
  expect(denied).toEqual([]);
});

test("the policy Bootstrap passes roles only to the services that take one", () => {
  const passing = policies["Bootstrap"]?.find(({ Action }) => Action === "iam:PassRole");
  const services = [everyOption, noOption].flatMap((environment) =>
    rows(templateOf(environment), "AWS::IAM::Role").map(
      ([, role]) => role.AssumeRolePolicyDocument.Statement[0].Principal.Service,
    ),
  );
  expect(passing?.Condition?.StringEquals["iam:PassedToService"]).toEqual(
    Array.from(new Set(services)).sort(),
  );
});

test("the boundary allows what each function does", () => {
  const granted: string[] = rows(templateOf(everyOption), "AWS::IAM::Policy").flatMap(
    ([, { PolicyDocument }]) =>
      PolicyDocument.Statement.flatMap(({ Action }: Statement) => Action),
  );
  expect(granted).toContain("logs:PutLogEvents");
  const denied = granted.filter((action) => {
    const resource = action.startsWith("dynamodb:") ? orders : log;
    return !allows("Bootstrap, boundary", action, resource);
  });
  expect(denied).toEqual([]);
});
