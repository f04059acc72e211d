import { one } from "../templates.ts";
import { add, push, remove, type StoppingChange, set, unset, type Which } from "./change.ts";

const role: Which = ["IAM::Role", "CancelOrderRole"];
const policy: Which = ["IAM::Policy", "CancelOrderRole"];
const statements = "PolicyDocument.Statement";
const allowsAll = { Effect: "Allow", Action: "*", Resource: "*" };

/** Changes of who may do what that stop a deployment. */
export const rolesChanges: StoppingChange[] = [
  {
    title: "a role may act on everything",
    change: set(policy, `${statements}.1.Resource`, "*"),
    names: ["CancelOrderRole/DefaultPolicy.PolicyDocument.Statement=DIGEST"],
  },
  {
    title: "a role gains an action",
    change: set(policy, `${statements}.1.Action`, ["dynamodb:UpdateItem", "dynamodb:Scan"]),
    names: ["CancelOrderRole/DefaultPolicy.PolicyDocument.Statement=DIGEST"],
  },
  {
    title: "a role gains every action outside IAM",
    change: push(policy, statements, { Effect: "Allow", NotAction: "iam:*", Resource: "*" }),
    names: ["CancelOrderRole/DefaultPolicy.PolicyDocument.Statement=DIGEST"],
  },
  {
    title: "a role gains a managed policy",
    change: set(role, "ManagedPolicyArns", ["arn:aws:iam::aws:policy/AdministratorAccess"]),
    names: ["CancelOrderRole.ManagedPolicyArns=DIGEST"],
  },
  {
    title: "a role gains an inline policy",
    change: set(role, "Policies", [
      { PolicyName: "own", PolicyDocument: { Statement: [allowsAll] } },
    ]),
    names: ["CancelOrderRole.Policies=DIGEST"],
  },
  {
    title: "a role gains a policy of the stack's own",
    change: (next) => {
      const Roles = [{ Ref: one(next, ...role).id }];
      const Properties = { Roles, PolicyDocument: { Statement: [allowsAll] } };
      next.Resources["Own"] = { Type: "AWS::IAM::ManagedPolicy", Properties };
    },
    names: ["added:Own@DIGEST"],
  },
  {
    title: "another account may assume a role",
    change: push(role, "AssumeRolePolicyDocument.Statement", {
      Effect: "Allow",
      Action: "sts:AssumeRole",
      Principal: { AWS: "444444444444" },
    }),
    names: ["CancelOrderRole.AssumeRolePolicyDocument.Statement=DIGEST"],
  },
  {
    title: "a role loses its permissions boundary",
    change: unset(role, "PermissionsBoundary"),
    names: ["CancelOrderRole.PermissionsBoundary=unset"],
  },
  {
    title: "a role's policy depends on a condition",
    change: push(policy, statements, { "Fn::If": ["Always", allowsAll, allowsAll] }),
    names: ["CancelOrderRole/DefaultPolicy.PolicyDocument.Statement=DIGEST"],
  },
  {
    title: "a policy that the stack attaches to no role is added",
    change: add("Own", {
      Type: "AWS::IAM::ManagedPolicy",
      Properties: { PolicyDocument: { Statement: [allowsAll] } },
    }),
    names: ["added:Own@DIGEST"],
  },
  {
    title: "a role is removed",
    change: remove(["IAM::Role", "RolloutRole"]),
    names: ["removed:Rollout/Role@DIGEST"],
  },
];
