import type { Change } from "./changes.ts";
import type { Grant } from "./grants.ts";

/** A grant that a new role, function, alias or topic needs. */
interface OrdinaryGrant {
  /** Anyone, without it. */
  principal?: string;
  action: string;
  /** Matches the condition as JSON. Without it, the grant has none. */
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

/** Whether a new resource needs the grant, or it goes with a removed one. */
export function isOrdinaryGrant(grant: Grant, changes: Change[]): boolean {
  const added = changes.filter(({ kind }) => kind === "added");
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
