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
  const found = text.matchAll(/^#+ ([^\n]*)$|^( *)```json\n(.*?)^ *```/gms);
  const statements = new Map<string, Statement[]>();
  let heading = "";
  for (const [, title, , json] of found) {
    heading = title ?? heading;
    // Further policies below a heading: a boundary, and the trust policy of a role.
    if (json && !json.includes('"Principal"')) {
      statements.set(
        statements.has(heading) ? `${heading}, boundary` : heading,
        JSON.parse(json).Statement,
      );
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

interface Work {
  what: string;
  /** The headings of its policies. */
  policies: string[];
  calls: [action: string, resource: string][];
}

/** Every command of the runbook, with the calls to AWS that it makes. */
const works: Work[] = [
  {
    what: "orders import",
    policies: ["Orders"],
    calls: [...finding, ...on(table("Orders"), "dynamodb:GetItem", "dynamodb:PutItem")],
  },
  {
    what: "orders export",
    policies: ["Orders"],
    calls: [...finding, ...on(table("Orders"), "dynamodb:DescribeTable", "dynamodb:Scan")],
  },
  {
    what: "orders show",
    policies: ["Orders"],
    calls: [
      ...finding,
      ...on(table("Orders"), "dynamodb:GetItem"),
      ...on(table("ApiKeys"), "dynamodb:Scan"),
    ],
  },
  {
    what: "orders ship",
    policies: ["Orders"],
    calls: [...finding, ...on(table("Orders"), "dynamodb:GetItem", "dynamodb:UpdateItem")],
  },
  {
    what: "keys issue",
    policies: ["Keys"],
    calls: [...finding, ...on(table("ApiKeys"), "dynamodb:PutItem")],
  },
  {
    what: "keys list",
    policies: ["Keys"],
    calls: [...finding, ...on(table("ApiKeys"), "dynamodb:Scan")],
  },
  {
    what: "keys revoke",
    policies: ["Keys"],
    calls: [...finding, ...on(table("ApiKeys"), "dynamodb:Scan", "dynamodb:UpdateItem")],
  },
  {
    what: "flushing the authorizer's cache",
    policies: ["Keys"],
    calls: on(cache, "apigateway:DELETE"),
  },
  ...["Orders", "ApiKeys"].flatMap((name): Work[] => [
    {
      what: `restoring ${name}`,
      policies: ["Restore", "Orders", "Keys"],
      calls: [
        ...finding,
        ...on(
          table(name),
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
      what: `carrying ${name} over`,
      policies: ["Restore", "Orders", "Keys"],
      calls: [
        ...finding,
        ...on(table(name), "dynamodb:Scan", "dynamodb:GetItem"),
        ...on(table(name), "dynamodb:PutItem", "dynamodb:UpdateItem"),
      ],
    },
  ]),
  {
    what: "comparing",
    policies: ["Set it up"],
    calls: [
      ...on(stack, "cloudformation:DescribeStacks", "cloudformation:GetTemplate"),
      ...on(table("Orders"), "dynamodb:DescribeTable", "dynamodb:DescribeContinuousBackups"),
    ],
  },
  { what: "deploying", policies: ["Set it up"], calls: cdkDeploy },
  {
    what: "issuing the smoke test's key",
    policies: ["Set it up"],
    calls: [...finding, ...on(table("ApiKeys"), "dynamodb:PutItem")],
  },
  {
    what: "rolling back by hand",
    policies: ["On call"],
    calls: [
      ...on(stack, "cloudformation:CancelUpdateStack", "cloudformation:DescribeStacks"),
      ...on(stack, "cloudformation:GetTemplate", "cloudformation:ListStackResources"),
      ...on(lambda, "lambda:ListVersionsByFunction", "lambda:UpdateAlias"),
      ...cdkDeploy,
    ],
  },
  {
    what: "ending a stuck rollback",
    policies: ["On call"],
    calls: [
      ...on(stack, "cloudformation:DescribeStacks", "cloudformation:ListStackResources"),
      ...on(stack, "cloudformation:ContinueUpdateRollback"),
    ],
  },
  {
    what: "reading logs and alarms",
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
    what: "CloudFormation with a log group",
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
    what: "CloudFormation with a first custom domain",
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
    what: "CloudFormation with a canary",
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
    what: "CloudFormation with a topic's subscription",
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
    what: "CloudFormation with a role of the stack",
    policies: ["Bootstrap"],
    calls: on(
      role("STACK-CancelOrderRole-1A2B"),
      "iam:CreateRole",
      "iam:PassRole",
      "iam:PutRolePolicy",
    ),
  },
  {
    what: "CodeDeploy with the boundary",
    policies: ["Bootstrap, boundary"],
    calls: [
      ...on(lambda, "lambda:GetAlias", "lambda:UpdateAlias"),
      ...on("*", "cloudwatch:DescribeAlarms"),
    ],
  },
];

test.each(works)("$what is allowed by its policy", ({ policies: names, calls }) => {
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
    const [, call] = Object.entries(creating).find(([start]) => type.startsWith(start)) ?? [];
    return !call || !allows(["Bootstrap"], ...call);
  });
  expect(denied).toEqual([]);
});

test.each<[string, string, string]>([
  ["reads orders", "dynamodb:Scan", table("Orders")],
  ["deletes the logs of others", "logs:DeleteLogGroup", logGroup.replace("STACK-", "Other-")],
  ["changes other zones", "route53:ChangeResourceRecordSets", "arn:aws:route53:::hostedzone/OTHER"],
])("nothing but the stack: no policy for bootstrapping %s", (_, action, resource) => {
  expect(allows(["Bootstrap"], action, resource)).toBe(false);
});

test.each(["On call", "Set it up"])(
  "%s: CDK's lookup role, which reads everything, is no one's",
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
  ["makes users", "iam:CreateUser"],
  ["deletes logs", "logs:DeleteLogGroup"],
  ["moves other aliases", "lambda:UpdateAlias"],
])("no role within the boundary %s", (_, action) => {
  expect(allows(["Bootstrap, boundary"], action, "arn:aws:any:REGION:ACCOUNT:other")).toBe(false);
});
