import type { fullDiff } from "@aws-cdk/cloudformation-diff";

/** One action on one resource that only one of two templates allows someone. */
export interface Grant {
  /** Whether it is the next template that allows it. */
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
      // AWS's own policies by name. Those of the account keep their ARN: names could be the same.
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

/** Splits a statement into single permissions, each with a text that identifies it. */
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

/** The values; those of `NotAction` and the like are marked. */
function targets({ not, values }: Statement["actions"]): string[] {
  return not ? values.map((value) => `not-${value}`) : values;
}
