import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { everyOption } from "../helpers/fixture-environments.ts";
import { resources, templateOf } from "../helpers/synthesise.ts";

interface Statement {
  Action: string | string[];
  Resource: string | string[];
}

/** The statements of every policy in a page, by the heading above it. */
async function policies(page: string): Promise<Map<string, Statement[]>> {
  const text = await readFile(new URL(`../../infra/${page}`, import.meta.url), "utf8");
  const parts = text.matchAll(/^#+ (?<title>[^\n]*)$|^ *```json\n(?<json>.*?)^ *```/gms);
  const statements = new Map<string, Statement[]>();
  let heading = page;
  for (const { groups: { title, json } = {} } of parts) {
    heading = title ?? heading;
    // A second policy below a heading is a boundary; one with a principal, the trust of a role.
    if (json && !json.includes('"Principal"')) {
      const name = statements.has(heading) ? `${heading}, boundary` : heading;
      statements.set(name, JSON.parse(json).Statement);
    }
  }
  return statements;
}

const found = new Map([...(await policies("PERMISSIONS.md")), ...(await policies("README.md"))]);

/** Whether one of the policies allows an action on a resource. */
function allows(names: string[], action: string, resource: string): boolean {
  const matches = (patterns: string | string[], text: string): boolean =>
    [patterns].flat().some((pattern) => {
      const expression = RegExp.escape(pattern).replaceAll("\\*", ".*");
      return new RegExp(`^${expression}$`).test(text);
    });
  return names
    .flatMap((name) => found.get(name) ?? [])
    .some(({ Action, Resource }) => matches(Action, action) && matches(Resource, resource));
}

const stack = "arn:aws:cloudformation:REGION:ACCOUNT:stack/STACK/1a2b";
const table = (name: string) => `arn:aws:dynamodb:REGION:ACCOUNT:table/STACK-${name}-1A2B`;
const lambda = "arn:aws:lambda:REGION:ACCOUNT:function:STACK-CancelOrder-1A2B";
const logGroup = "arn:aws:logs:REGION:ACCOUNT:log-group:STACK-CancelOrderLog-1A2B:*";
const executionLog = "arn:aws:logs:REGION:ACCOUNT:log-group:API-Gateway-Execution-Logs_1a2b/v1";
const role = (name: string) => `arn:aws:iam::ACCOUNT:role/${name}`;
const cdkRole = (name: string) => role(`cdk-hnb659fds-${name}-role-ACCOUNT-REGION`);
const cache = "arn:aws:apigateway:REGION::/restapis/1a2b/stages/v1/cache/authorizers";
const topic = "arn:aws:sns:REGION:ACCOUNT:STACK-AlarmsTopic-1A2B";

/** Calls of an action on a resource. */
const on = (resource: string, ...actions: string[]) =>
  actions.map((action): [action: string, resource: string] => [action, resource]);

const finding = on(stack, "cloudformation:DescribeStacks");
const cdkDeploy = [
  ...on(cdkRole("deploy"), "sts:AssumeRole"),
  ...on(cdkRole("file-publishing"), "sts:AssumeRole"),
];

interface Task {
  name: string;
  /** The headings of its policies. */
  policies: string[];
  calls: [action: string, resource: string][];
}

/** A task that the runbook's policies are for, with the calls to AWS that it takes. */
const tasks: Task[] = [
  {
    name: "orders import",
    policies: ["Orders"],
    calls: [...finding, ...on(table("Orders"), "dynamodb:GetItem", "dynamodb:PutItem")],
  },
  {
    name: "orders export",
    policies: ["Orders"],
    calls: [...finding, ...on(table("Orders"), "dynamodb:DescribeTable", "dynamodb:Scan")],
  },
  {
    name: "orders show",
    policies: ["Orders"],
    calls: [
      ...finding,
      ...on(table("Orders"), "dynamodb:GetItem"),
      ...on(table("ApiKeys"), "dynamodb:Scan"),
    ],
  },
  {
    name: "orders ship",
    policies: ["Orders"],
    calls: [...finding, ...on(table("Orders"), "dynamodb:GetItem", "dynamodb:UpdateItem")],
  },
  {
    name: "orders audit",
    policies: ["Orders", "On call"],
    calls: [
      ...finding,
      ...on(stack, "cloudformation:ListStackResources"),
      ...on(logGroup, "logs:FilterLogEvents"),
      ...on(table("Orders"), "dynamodb:BatchGetItem"),
    ],
  },
  {
    name: "keys issue",
    policies: ["Keys"],
    calls: [...finding, ...on(table("ApiKeys"), "dynamodb:PutItem")],
  },
  {
    name: "keys list",
    policies: ["Keys"],
    calls: [...finding, ...on(table("ApiKeys"), "dynamodb:Scan")],
  },
  {
    name: "keys revoke",
    policies: ["Keys"],
    calls: [...finding, ...on(table("ApiKeys"), "dynamodb:Scan", "dynamodb:UpdateItem")],
  },
  {
    name: "flushing the authorizer's cache",
    policies: ["Keys"],
    calls: on(cache, "apigateway:DELETE"),
  },
  ...["Orders", "ApiKeys"].flatMap((id): Task[] => [
    {
      name: `restoring ${id}`,
      policies: ["Restore", "Orders", "Keys"],
      calls: [
        ...finding,
        ...on(
          table(id),
          "dynamodb:RestoreTableToPointInTime",
          "dynamodb:DescribeTable",
          "dynamodb:DescribeContinuousBackups",
          "dynamodb:UpdateContinuousBackups",
          "dynamodb:UpdateTable",
          "dynamodb:TagResource",
          "dynamodb:PutResourcePolicy",
        ),
      ],
    },
    {
      name: `carrying ${id} over`,
      policies: ["Restore", "Orders", "Keys"],
      calls: [
        ...finding,
        ...on(table(id), "dynamodb:Scan", "dynamodb:GetItem"),
        ...on(table(id), "dynamodb:PutItem", "dynamodb:UpdateItem"),
      ],
    },
  ]),
  {
    name: "comparing",
    policies: ["Set it up"],
    calls: [
      ...on(stack, "cloudformation:DescribeStacks", "cloudformation:GetTemplate"),
      ...on(table("Orders"), "dynamodb:DescribeTable", "dynamodb:DescribeContinuousBackups"),
    ],
  },
  { name: "deploying", policies: ["Set it up"], calls: cdkDeploy },
  {
    name: "issuing the smoke test's key",
    policies: ["Set it up"],
    calls: [...finding, ...on(table("ApiKeys"), "dynamodb:PutItem")],
  },
  {
    name: "rolling back by hand",
    policies: ["On call"],
    calls: [
      ...on(stack, "cloudformation:CancelUpdateStack", "cloudformation:DescribeStacks"),
      ...on(stack, "cloudformation:GetTemplate", "cloudformation:ListStackResources"),
      ...on(lambda, "lambda:ListVersionsByFunction", "lambda:UpdateAlias"),
      ...cdkDeploy,
    ],
  },
  {
    name: "ending a stuck rollback",
    policies: ["On call"],
    calls: [
      ...on(stack, "cloudformation:DescribeStacks", "cloudformation:ListStackResources"),
      ...on(stack, "cloudformation:ContinueUpdateRollback"),
    ],
  },
  {
    name: "reading logs and alarms",
    policies: ["On call"],
    calls: [
      ...on(logGroup, "logs:FilterLogEvents", "logs:DescribeLogGroups"),
      ...on(
        "*",
        "cloudwatch:DescribeAlarms",
        "cloudwatch:GetDashboard",
        "cloudwatch:GetMetricData",
      ),
    ],
  },
  {
    name: "CloudFormation with a log group",
    policies: ["Bootstrap"],
    calls: [
      ...on(logGroup, "logs:CreateLogGroup", "logs:DeleteLogGroup", "logs:PutRetentionPolicy"),
      ...on(logGroup, "logs:PutMetricFilter", "logs:GetDataProtectionPolicy"),
      ...on(executionLog, "logs:CreateLogGroup", "logs:PutRetentionPolicy"),
      ...on("*", "logs:DescribeLogGroups", "logs:DescribeIndexPolicies"),
      ...on("*", "logs:DescribeResourcePolicies"),
    ],
  },
  {
    name: "CloudFormation with a first domain",
    policies: ["Bootstrap"],
    calls: [
      ...on(
        role("aws-service-role/ops.apigateway.amazonaws.com/AWSServiceRoleForAPIGateway"),
        "iam:CreateServiceLinkedRole",
      ),
      ...on("arn:aws:route53:::hostedzone/ZONE", "route53:ChangeResourceRecordSets"),
      ...on("*", "acm:DescribeCertificate", "route53:GetChange"),
    ],
  },
  {
    name: "CloudFormation with a canary",
    policies: ["Bootstrap"],
    calls: [
      ...on("*", "codedeploy:CreateCloudFormationDeployment", "codedeploy:StopDeployment"),
      ...on("*", "codedeploy:ContinueDeployment", "codedeploy:GetDeploymentConfig"),
      ...on(
        "arn:aws:codedeploy:REGION:ACCOUNT:application:STACK-Rollout",
        "codedeploy:CreateApplication",
      ),
    ],
  },
  {
    name: "CloudFormation with a subscription",
    policies: ["Bootstrap"],
    calls: [
      ...on(topic, "sns:CreateTopic", "sns:Subscribe"),
      ...on(
        "*",
        "sns:Unsubscribe",
        "sns:GetSubscriptionAttributes",
        "sns:SetSubscriptionAttributes",
      ),
    ],
  },
  {
    name: "CloudFormation with a role of the stack",
    policies: ["Bootstrap"],
    calls: on(
      role("STACK-CancelOrderRole-1A2B"),
      "iam:CreateRole",
      "iam:PassRole",
      "iam:PutRolePolicy",
    ),
  },
  {
    name: "CodeDeploy with the boundary",
    policies: ["Bootstrap, boundary"],
    calls: [
      ...on(lambda, "lambda:GetAlias", "lambda:UpdateAlias"),
      ...on("*", "cloudwatch:DescribeAlarms"),
    ],
  },
];

test.each(tasks)("$name is allowed by its policies", ({ policies: names, calls }) => {
  expect(calls.filter(([action, resource]) => !allows(names, action, resource))).toEqual([]);
});

/** The action that creates a resource of each type that an environment with every setting has. */
const creating: Record<string, [action: string, resource: string]> = {
  "AWS::ApiGateway": ["apigateway:POST", "arn:aws:apigateway:REGION::/restapis"],
  "AWS::CloudWatch::Alarm": ["cloudwatch:PutMetricAlarm", "*"],
  "AWS::CloudWatch::Dashboard": ["cloudwatch:PutDashboard", "*"],
  "AWS::CodeDeploy": [
    "codedeploy:CreateDeploymentGroup",
    "arn:aws:codedeploy:REGION:ACCOUNT:deploymentgroup:STACK-Rollout/STACK-CancelOrder",
  ],
  "AWS::DynamoDB::Table": ["dynamodb:CreateTable", table("Orders")],
  "AWS::IAM::Policy": ["iam:PutRolePolicy", role("STACK-CancelOrderRole-1A2B")],
  "AWS::IAM::Role": ["iam:CreateRole", role("STACK-CancelOrderRole-1A2B")],
  "AWS::Lambda": ["lambda:CreateFunction", lambda],
  "AWS::Logs::LogGroup": ["logs:CreateLogGroup", logGroup],
  "AWS::Logs::MetricFilter": ["logs:PutMetricFilter", logGroup],
  "AWS::Route53::RecordSet": [
    "route53:ChangeResourceRecordSets",
    "arn:aws:route53:::hostedzone/ZONE",
  ],
  "AWS::SNS": ["sns:CreateTopic", topic],
  "AWS::WAFv2::WebACLAssociation": ["wafv2:AssociateWebACL", "*"],
};

test("the policy for bootstrapping lets CloudFormation create whatever a setting asks for", () => {
  const all: { Type: string }[] = Object.values(templateOf(everyOption).toJSON()["Resources"]);
  const denied = [...new Set(all.map(({ Type }) => Type))].filter((type) => {
    const call = Object.entries(creating).find(([start]) => type.startsWith(start))?.[1];
    return !call || !allows(["Bootstrap"], ...call);
  });
  expect(denied).toEqual([]);
});

test.each<[string, string, string]>([
  ["reading orders", "dynamodb:Scan", table("Orders")],
  ["deleting the logs of others", "logs:DeleteLogGroup", logGroup.replace("STACK-", "Other-")],
  [
    "changing other zones",
    "route53:ChangeResourceRecordSets",
    "arn:aws:route53:::hostedzone/OTHER",
  ],
])("the policy for bootstrapping doesn't allow %s", (_, action, resource) => {
  expect(allows(["Bootstrap"], action, resource)).toBe(false);
});

test.each(["On call", "Set it up"])(
  "the policy %j doesn't allow CDK's lookup role, which reads everything",
  (name) => {
    expect(allows([name], "sts:AssumeRole", cdkRole("lookup"))).toBe(false);
  },
);

test("the boundary allows what each function does", () => {
  const granted = resources(templateOf(everyOption), "AWS::IAM::Policy").flatMap(
    ([, { PolicyDocument }]) => {
      const { Statement }: { Statement: Statement[] } = JSON.parse(JSON.stringify(PolicyDocument));
      return Statement.flatMap(({ Action }) => Action);
    },
  );
  expect(granted.length).toBeGreaterThan(0);
  const denied = granted.filter((action) => {
    const resource = action.startsWith("dynamodb:") ? table("Orders") : logGroup;
    return !allows(["Bootstrap, boundary"], action, resource);
  });
  expect(denied).toEqual([]);
});

test.each<[string, string]>([
  ["creating users", "iam:CreateUser"],
  ["deleting logs", "logs:DeleteLogGroup"],
  ["moving other aliases", "lambda:UpdateAlias"],
])("the boundary doesn't allow %s", (_, action) => {
  expect(allows(["Bootstrap, boundary"], action, "arn:aws:any:REGION:ACCOUNT:other")).toBe(false);
});
