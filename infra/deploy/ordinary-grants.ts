import type { Change } from "./changes.ts";
import type { Grant } from "./grants.ts";

/** A grant that a new role, function, alias or topic needs. The condition is matched as JSON. */
interface OrdinaryGrant {
  principal?: string;
  action: string;
  condition?: RegExp;
}

const ordinaryGrants: OrdinaryGrant[] = [
  { principal: "Service:lambda.amazonaws.com", action: "sts:AssumeRole" },
  { principal: "Service:codedeploy.amazonaws.com", action: "sts:AssumeRole" },
  { action: "AWSCodeDeployRoleForLambdaLimited" },
  // For this API alone, and for the alarms of this account.
  {
    principal: "Service:apigateway.amazonaws.com",
    action: "lambda:InvokeFunction",
    condition: /^\{"ArnLike":\{"AWS:SourceArn":"[^"]*:\$\{ApiRest\w+\}\/[^"]*"\}\}$/,
  },
  {
    principal: "Service:cloudwatch.amazonaws.com",
    action: "sns:Publish",
    condition: /^\{"StringEquals":\{"aws:SourceAccount":"(\$\{AWS::AccountId\}|\d{12})"\}\}$/,
  },
];

/** The types that may be granted, or grant, something because they are new. */
const grantedTypes = [
  "AWS::IAM::Role",
  "AWS::Lambda::Alias",
  "AWS::Lambda::Function",
  "AWS::SNS::Topic",
];

/** Whether a grant comes with a new resource that needs it, or goes with its resource. */
export function isOrdinaryGrant(grant: Grant, changes: Change[]): boolean {
  const added = changes.filter(({ kind, type }) => kind === "added" && grantedTypes.includes(type));
  const removed = changes.filter(({ kind }) => kind === "removed");
  if (isAbout(grant, removed)) return true;
  if (!isAbout(grant, added)) return false;
  const isListed = ordinaryGrants.some(
    ({ principal = grant.principal, action, condition = /^$/ }) =>
      principal === grant.principal && action === grant.action && condition.test(grant.condition),
  );
  return !grant.isGained || isListed;
}

/** Whether a grant is to, or on, one of the resources. */
function isAbout({ principal, resource }: Grant, changes: Change[]): boolean {
  const ids = new Set(changes.map(({ id }) => id));
  const references = `${principal} ${resource}`.matchAll(/\$\{(\w+)/g);
  return [...references].some(([, id = ""]) => ids.has(id));
}
