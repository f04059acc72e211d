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

/** Whether a policy names the whole service, like `lambda:*`. */
const allowsAll = (policy: string, action: string, resource: string) =>
  allows(policy, action.replace(/:.*/, ":Anything"), resource);

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
const executionLog = `${logs}:API-Gateway-Execution-Logs_1a2b/v1:*`;
const assets = `arn:aws:s3:::cdk-${qualifier}-assets-ACCOUNT-REGION/a.zip`;
const bootstrapVersion = `arn:aws:ssm:REGION:ACCOUNT:parameter/cdk-bootstrap/${qualifier}/version`;
const gatewayRole =
  "arn:aws:iam::ACCOUNT:role/aws-service-role/ops.apigateway.amazonaws.com/AWSServiceRoleForAPIGateway";

/** Actions, with spaces between them, by the resource that they are called on. */
type Calls = Record<string, string>;

type Call = readonly [action: string, resource: string];

const callsOf = (calls: Calls): Call[] =>
  Object.entries(calls).flatMap(([resource, actions]) =>
    actions.split(/\s+/).map((action): Call => [action, resource]),
  );

const readsApi: Calls = {
  [`${api}/1a2b`]: "apigateway:GET",
  [api.replace("restapis", "account")]: "apigateway:GET",
  [api.replace("restapis", "domainnames/orders.example.com")]: "apigateway:GET",
};
const describes = "dynamodb:DescribeTable";
const deploys: Calls = {
  [cdkRole("deploy")]: "sts:AssumeRole",
  [cdkRole("file-publishing")]: "sts:AssumeRole",
  [stack]: "cloudformation:DescribeStacks cloudformation:GetTemplate",
  [orders]: describes,
  [apiKeys]: describes,
};
const comparesTable = `${describes} dynamodb:DescribeContributorInsights dynamodb:GetResourcePolicy
  dynamodb:DescribeContinuousBackups dynamodb:ListTagsOfResource`;
const setsUpTable = `${comparesTable} dynamodb:CreateTable dynamodb:DeleteTable dynamodb:TagResource
  dynamodb:UntagResource dynamodb:UpdateTable dynamodb:UpdateContinuousBackups
  dynamodb:PutResourcePolicy dynamodb:DeleteResourcePolicy`;
const restoresTable = `${describes} dynamodb:RestoreTableToPointInTime dynamodb:RestoreTableFromBackup
  dynamodb:DescribeContinuousBackups dynamodb:ListTagsOfResource dynamodb:GetResourcePolicy
  dynamodb:Scan dynamodb:GetItem dynamodb:BatchGetItem dynamodb:BatchWriteItem dynamodb:DeleteItem
  dynamodb:Query dynamodb:PutItem dynamodb:UpdateItem`;
const usesTable = "dynamodb:GetItem dynamodb:Scan dynamodb:UpdateItem";

/** All that the tasks of a policy call. */
const tasks: Record<string, Calls> = {
  Orders: {
    [stack]: "cloudformation:DescribeStacks",
    [orders]: "dynamodb:BatchGetItem dynamodb:PutItem dynamodb:Scan dynamodb:UpdateItem",
    [apiKeys]: "dynamodb:Scan",
  },
  "Undo an import": { [orders]: "dynamodb:DeleteItem" },
  Keys: {
    [stack]: "cloudformation:DescribeStacks cloudformation:ListStackResources",
    [apiKeys]: `${usesTable} dynamodb:PutItem ${describes}`,
    [cache]: "apigateway:DELETE",
  },
  Repair: {
    [orders]: restoresTable,
    [apiKeys]: restoresTable,
    [copy]: "dynamodb:DeleteTable",
    "*": "dynamodb:ListBackups dynamodb:ListTables",
  },
  Deploy: { ...deploys, [apiKeys]: `${describes} dynamodb:PutItem` },
  "On call": {
    ...deploys,
    [stack]: `${deploys[stack]} cloudformation:CancelUpdateStack
      cloudformation:ContinueUpdateRollback cloudformation:ListStackResources`,
    [lambda]: "lambda:ListVersionsByFunction lambda:GetAlias lambda:UpdateAlias",
    [cache]: "apigateway:DELETE",
    ...readsApi,
    "*": `cloudwatch:DescribeAlarms cloudwatch:GetDashboard cloudwatch:GetMetricData
      lambda:GetAccountSettings logs:DescribeLogGroups logs:FilterLogEvents`,
  },
  Drift: {
    "*": `cloudformation:DetectStackDrift cloudformation:DetectStackResourceDrift
      cloudformation:DescribeStackResourceDrifts cloudformation:DescribeStackDriftDetectionStatus`,
    [orders]: comparesTable,
    [apiKeys]: comparesTable,
    [lambda]: "lambda:GetFunction lambda:GetAlias lambda:GetProvisionedConcurrencyConfig",
    [log]: "logs:GetDataProtectionPolicy",
    ...readsApi,
  },
  Bootstrap: {
    [orders]: setsUpTable,
    [apiKeys]: setsUpTable,
    [copy]: "dynamodb:DeleteTable",
    [lambda]: "lambda:CreateFunction",
    [role]: `iam:AttachRolePolicy iam:CreateRole iam:DeleteRole iam:DeleteRolePolicy
      iam:DetachRolePolicy iam:GetRole iam:GetRolePolicy iam:ListAttachedRolePolicies
      iam:ListRolePolicies iam:PassRole iam:PutRolePermissionsBoundary iam:PutRolePolicy
      iam:TagRole iam:UntagRole iam:UpdateAssumeRolePolicy iam:UpdateRole`,
    [log]: `logs:CreateLogGroup logs:DeleteLogGroup logs:DeleteMetricFilter
      logs:DeleteRetentionPolicy logs:DescribeMetricFilters logs:GetDataProtectionPolicy
      logs:ListTagsForResource logs:PutMetricFilter logs:PutRetentionPolicy logs:TagResource
      logs:UntagResource`,
    [executionLog]: "logs:CreateLogGroup logs:GetDataProtectionPolicy",
    [gatewayRole]: "iam:CreateServiceLinkedRole",
    [api]: "apigateway:POST",
    [zone]:
      "route53:ChangeResourceRecordSets route53:GetHostedZone route53:ListResourceRecordSets",
    [topic]: "sns:Subscribe",
    [group]: "codedeploy:CreateDeploymentGroup",
    [assets]: "s3:GetObject",
    [bootstrapVersion]: "ssm:GetParameters",
    [alarm]: `cloudwatch:DeleteAlarms cloudwatch:ListTagsForResource cloudwatch:PutMetricAlarm
      cloudwatch:TagResource cloudwatch:UntagResource`,
    [dashboard]:
      "cloudwatch:DeleteDashboards cloudwatch:GetDashboard cloudwatch:PutDashboard",
    "*": `acm:DescribeCertificate cloudwatch:DescribeAlarms codedeploy:ContinueDeployment
      codedeploy:CreateCloudFormationDeployment codedeploy:GetDeploymentConfig
      codedeploy:StopDeployment logs:DescribeIndexPolicies logs:DescribeLogGroups
      logs:DescribeResourcePolicies route53:GetChange sns:GetSubscriptionAttributes
      sns:SetSubscriptionAttributes sns:Unsubscribe wafv2:AssociateWebACL
      wafv2:DisassociateWebACL wafv2:GetWebACL wafv2:GetWebACLForResource`,
  },
  "Bootstrap, boundary": {
    [orders]: usesTable,
    [apiKeys]: usesTable,
    [lambda]: "lambda:GetAlias lambda:UpdateAlias lambda:GetProvisionedConcurrencyConfig",
    "*": `cloudwatch:DescribeAlarms logs:CreateLogGroup logs:CreateLogStream
      logs:DescribeLogGroups logs:DescribeLogStreams logs:FilterLogEvents logs:GetLogEvents
      logs:PutLogEvents`,
  },
};

/** What no policy may allow. */
const excessive: Calls = {
  // It reads everything in the account.
  [cdkRole("lookup")]: "sts:AssumeRole",
  [api.replace("restapis", "apikeys/1a2b")]: "apigateway:GET",
  [lambda]: "lambda:UpdateFunctionCode",
  [alarm.replace("STACK", "Other")]: "cloudwatch:DeleteAlarms",
  [`${logs}:Other-CancelOrderLog-1A2B:*`]: "logs:DeleteLogGroup",
  [zone.replace("ZONE", "OTHER")]: "route53:ChangeResourceRecordSets",
  [lambda.replace("STACK", "Other")]: "lambda:UpdateAlias",
  [orders.replace("STACK", "Other")]:
    "dynamodb:Scan dynamodb:DeleteTable dynamodb:DescribeTable",
  "*": "iam:CreateUser logs:DeleteLogGroup",
};
const allCalls = [...Object.values(tasks), excessive].flatMap(callsOf);

test.each(Object.entries(tasks))(
  "the policy %s allows what its tasks need, and no more",
  (policy, needed) => {
    const calls = callsOf(needed);
    expect(calls.filter((call) => !allows(policy, ...call))).toEqual([]);
    const isNeeded = ([action, resource]: Call) =>
      calls.some((other) => other[0] === action && ["*", resource].includes(other[1]));
    const tooMuch = allCalls.filter(
      (call) => !isNeeded(call) && allows(policy, ...call) && !allowsAll(policy, ...call),
    );
    expect(tooMuch).toEqual([]);
    const unneeded = policies[policy]?.flatMap(({ Action, Resource }) =>
      [Action]
        .flat()
        .filter(
          (pattern) =>
            !calls.some(
              (call) => matches(pattern, call[0]) && matches(Resource, call[1]),
            ),
        ),
    );
    expect(unneeded).toEqual([]);
  },
);

test("whoever is on call may use every command of the page", () => {
  const operator = ["On call", "Orders", "Undo an import", "Keys", "Repair"].flatMap(
    (name) => policies[name] ?? [],
  );
  const runbook = readFileSync("infra/ON-CALL.md", "utf8");
  const blocks = runbook.match(/^```sh$.*?^```$/gms)?.join("\n") ?? "";
  const calls = Array.from(
    blocks.matchAll(/\baws ([a-z]+) ([a-z-]+)/g),
    ([, service, words]) =>
      `${service}:${words?.replaceAll(/(?:^|-)(.)/g, (_, letter) => letter.toUpperCase())}`
        .replace(/^(apigateway:)Get.*/, "$1GET")
        .replace(/^(apigateway:)Flush.*/, "$1DELETE")
        .replace("logs:Tail", "logs:FilterLogEvents"),
  );
  expect(calls.length).toBeGreaterThan(25);
  expect(
    calls.filter((call) => !operator.some(({ Action }) => matches(Action, call))),
  ).toEqual([]);
});

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
