import type { Template } from "../../../infra/deploy/template.ts";
import { one } from "../templates.ts";
import type { StoppingChange } from "./stopping-change.ts";

const statement = (template: Template, role: string) =>
  one(template, "IAM::Policy", role).properties["PolicyDocument"].Statement;

/** Changes of who may do what that someone would mind. */
export const rolesChanges: StoppingChange[] = [
  {
    title: "a role may act on everything",
    change: (next) => {
      statement(next, "CancelOrderRole")[1].Resource = "*";
    },
    names: [
      "grant:CancelOrderRole:dynamodb:UpdateItem:*",
      "revoke:CancelOrderRole:dynamodb:UpdateItem:Orders.Arn",
    ],
  },
  {
    title: "a role gains an action",
    change: (next) => {
      statement(next, "CancelOrderRole")[1].Action = ["dynamodb:UpdateItem", "dynamodb:Scan"];
    },
    names: ["grant:CancelOrderRole:dynamodb:Scan:Orders.Arn"],
  },
  {
    title: "a role gains all actions but some",
    change: (next) => {
      const NotAction = "iam:*";
      statement(next, "CancelOrderRole").push({ Effect: "Allow", NotAction, Resource: "*" });
    },
    names: ["grant:CancelOrderRole:not-iam:*:*"],
  },
  {
    title: "a role gains a managed policy",
    change: (next) => {
      const policies = ["arn:aws:iam::aws:policy/AdministratorAccess"];
      one(next, "IAM::Role", "CancelOrderRole").properties["ManagedPolicyArns"] = policies;
    },
    names: ["grant:CancelOrderRole:AdministratorAccess:*"],
  },
  {
    title: "a role gains an inline policy",
    change: (next) => {
      const allowed = { Effect: "Allow", Action: "dynamodb:PutItem", Resource: "*" };
      const policy = { PolicyName: "own", PolicyDocument: { Statement: [allowed] } };
      one(next, "IAM::Role", "CancelOrderRole").properties["Policies"] = [policy];
    },
    names: ["grant:CancelOrderRole:dynamodb:PutItem:*"],
  },
  {
    title: "a role gains a policy of the stack's own",
    change: (next) => {
      const Roles = [{ Ref: one(next, "IAM::Role", "CancelOrderRole").id }];
      const allowed = { Effect: "Allow", Action: "dynamodb:DeleteItem", Resource: "*" };
      const Properties = { Roles, PolicyDocument: { Statement: [allowed] } };
      next.Resources["Own"] = { Type: "AWS::IAM::ManagedPolicy", Properties };
    },
    names: ["grant:CancelOrderRole:dynamodb:DeleteItem:*"],
  },
  {
    title: "another account may assume a role",
    change: (next) => {
      const { properties } = one(next, "IAM::Role", "CancelOrderRole");
      const Principal = { AWS: "444444444444" };
      const { Statement } = properties["AssumeRolePolicyDocument"];
      Statement.push({ Effect: "Allow", Action: "sts:AssumeRole", Principal });
    },
    names: ["grant:AWS:444444444444:sts:AssumeRole:CancelOrderRole.Arn"],
  },
  {
    title: "a role loses its permissions boundary",
    change: (next) => {
      delete one(next, "IAM::Role", "CancelOrderRole").properties["PermissionsBoundary"];
    },
    names: ["changed:CancelOrderRole.PermissionsBoundary"],
  },
  {
    title: "a role's policy depends on a condition",
    change: (next) => {
      const allowed = { Effect: "Allow", Action: "*", Resource: "*" };
      statement(next, "CancelOrderRole").push({ "Fn::If": ["Always", allowed, allowed] });
    },
    names: ["changed:CancelOrderRole/DefaultPolicy.PolicyDocument.Statement"],
  },
  {
    title: "a policy that is attached elsewhere is added",
    change: (next) => {
      const allowed = { Effect: "Allow", Action: "*", Resource: "*" };
      const Properties = { PolicyDocument: { Statement: [allowed] } };
      next.Resources["Own"] = { Type: "AWS::IAM::ManagedPolicy", Properties };
    },
    names: ["added:Own"],
  },
  {
    title: "a role is removed",
    change: (next) => delete next.Resources[one(next, "IAM::Role", "RolloutRole").id],
    names: ["removed:Rollout/Role"],
  },
];
