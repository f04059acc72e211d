import type { fullDiff } from "@aws-cdk/cloudformation-diff";

/** One action that someone may take on something, which only one of two templates allows. */
export interface Grant {
  /** Whether the next template allows it, and not the deployed one. */
  isGained: boolean;
  /** Who may, like `AWS:${Role1A2B}` or `Service:lambda.amazonaws.com`. */
  principal: string;
  /** An action; a managed policy stands for all of its own. */
  action: string;
  resource: string;
  /** As JSON; empty without any. */
  condition: string;
}

type IamChanges = ReturnType<typeof fullDiff>["iamChanges"];
type Statement = IamChanges["statements"]["additions"][number];

/** Lists what the policies of two templates allow differently, however they are written. */
export function listGrants({ statements, managedPolicies }: IamChanges): Grant[] {
  const added = new Map(statements.additions.flatMap(permissions));
  const removed = new Map(statements.removals.flatMap(permissions));
  const onlyIn = (some: Map<string, Permission>, others: Map<string, Permission>) =>
    [...some].flatMap(([text, permission]) => (others.has(text) ? [] : permission));
  const attached = (isGained: boolean, policies: typeof managedPolicies.additions): Grant[] =>
    policies.map(({ identityArn, managedPolicyArn }) => ({
      isGained,
      principal: identityArn,
      // AWS's own by their names; a policy of the account could be called the same.
      action: managedPolicyArn.replace(/^arn:.+:iam::aws:policy\/(.*\/)?/, ""),
      resource: "*",
      condition: "",
    }));
  return [
    ...onlyIn(added, removed).map(({ allows, ...grant }) => ({ ...grant, isGained: allows })),
    ...onlyIn(removed, added).map(({ allows, ...grant }) => ({ ...grant, isGained: !allows })),
    ...attached(true, managedPolicies.additions),
    ...attached(false, managedPolicies.removals),
  ];
}

type Permission = Omit<Grant, "isGained"> & { allows: boolean };

/**
 * The single permissions that a statement gives or takes, each with the text that identifies it.
 */
function permissions(statement: Statement): [string, Permission][] {
  const { effect, condition } = statement;
  const about = {
    allows: effect !== "Deny",
    condition: condition === undefined ? "" : JSON.stringify(condition),
  };
  const found = targets(statement.principals).flatMap((principal) =>
    targets(statement.actions).flatMap((action) =>
      targets(statement.resources).map((resource) => ({ ...about, principal, action, resource })),
    ),
  );
  return found.map((permission) => [JSON.stringify(permission), permission]);
}

/** The targets, those of `NotAction` and the like marked. */
function targets({ not, values }: Statement["actions"]): string[] {
  return not ? values.map((value) => `not-${value}`) : values;
}
