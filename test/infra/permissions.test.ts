import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { everyOption } from "../helpers/fixture-environments.ts";
import { resources, templateOf } from "../helpers/synthesise.ts";

const page = await readFile(new URL("../../infra/PERMISSIONS.md", import.meta.url), "utf8");
const [cloudFormation, boundary, ...operators] = [...page.matchAll(/```json\n(.*?)```/gs)].map(
  ([, json = ""]) => allowed(JSON.parse(json)),
);

/** The actions that a policy allows, with their wildcards. */
function allowed({ Statement }: { Statement: { Action: string | string[] }[] }): string[] {
  return Statement.flatMap(({ Action }) => Action);
}

const allows = (actions: string[] = [], action: string): boolean =>
  actions.some((pattern) => new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(action));

/** The action that creates a resource of each type that an environment with every setting has. */
const creating = {
  "AWS::ApiGateway": "apigateway:POST",
  "AWS::CloudWatch::Alarm": "cloudwatch:PutMetricAlarm",
  "AWS::CloudWatch::Dashboard": "cloudwatch:PutDashboard",
  "AWS::CodeDeploy": "codedeploy:CreateDeploymentGroup",
  "AWS::DynamoDB::Table": "dynamodb:CreateTable",
  "AWS::IAM::Policy": "iam:PutRolePolicy",
  "AWS::IAM::Role": "iam:CreateRole",
  "AWS::Lambda": "lambda:CreateFunction",
  "AWS::Logs::LogGroup": "logs:CreateLogGroup",
  "AWS::Logs::MetricFilter": "logs:PutMetricFilter",
  "AWS::Route53::RecordSet": "route53:ChangeResourceRecordSets",
  "AWS::SNS": "sns:CreateTopic",
  "AWS::WAFv2::WebACLAssociation": "wafv2:AssociateWebACL",
};

test("the policy for bootstrapping lets CloudFormation create whatever a setting asks for", () => {
  const types = Object.values(templateOf(everyOption).toJSON()["Resources"]).map((resource) =>
    Object(resource).Type.toString(),
  );
  const denied = [...new Set(types)].filter((type) => {
    const [, action = "unknown"] =
      Object.entries(creating).find(([start]) => type.startsWith(start)) ?? [];
    return !allows(cloudFormation, action);
  });
  expect(denied).toEqual([]);
  expect(
    cloudFormation?.filter((action) => /^dynamodb:(Scan|Query|\w*Item|\*)$/.test(action)),
  ).toEqual([]);
});

test("the boundary allows what each function does and no more", () => {
  const template = templateOf(everyOption);
  const granted = resources(template, "AWS::IAM::Policy").flatMap(([, { PolicyDocument }]) =>
    allowed(JSON.parse(JSON.stringify(PolicyDocument))),
  );
  expect(granted.length).toBeGreaterThan(0);
  for (const action of granted) expect([action, allows(boundary, action)]).toEqual([action, true]);
  expect(allows(boundary, "iam:CreateUser")).toBe(false);
});

test("no operator's policy allows what another one's work needs", () => {
  const [orders, keys, onCall, restore] = operators;
  expect(allows(onCall, "dynamodb:Scan")).toBe(false);
  for (const policy of [orders, keys, restore])
    expect(allows(policy, "lambda:UpdateAlias")).toBe(false);
  expect(allows(orders, "dynamodb:RestoreTableToPointInTime")).toBe(false);
});
