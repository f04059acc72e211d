import { fullDiff } from "@aws-cdk/cloudformation-diff";
import { isFunction, isOpenRoute, partsOf, partsOfAlarms } from "./belonging.ts";
import { type Change, listChanges } from "./changes.ts";
import { type Grant, listGrants } from "./grants.ts";
import { isOrdinary, isOrdinaryGrant } from "./ordinary.ts";
import type { StackToCompare } from "./stacks.ts";
import {
  comparable,
  type Place,
  type TableMove,
  type Template,
  tableMoves,
  withPaths,
} from "./template.ts";

/** A change that someone has to mean. */
export interface Finding {
  /** The name for `--accept`: without spaces, and the same for the same change. */
  name: string;
  /** The change, for people. */
  text: string;
}

/** What has a name of its own. */
const names: Record<string, string> = {
  "AWS::ApiGateway::Authorizer IdentityValidationExpression": "key-expression",
  "AWS::ApiGateway::DomainName EndpointAccessMode": "tls",
  "AWS::ApiGateway::DomainName SecurityPolicy": "tls",
  "AWS::ApiGateway::RestApi EndpointAccessMode": "tls",
  "AWS::ApiGateway::RestApi SecurityPolicy": "tls",
  "Outputs.BaseUrl": "base-url",
};

/** The text as a finding can be named: what else it holds becomes a hyphen. */
export function acceptable(name: string): string {
  return name.replace(/[^\w.:/*@{}+=,-]+/g, "-");
}

/**
 * Compares a stack as it is deployed with what is about to be deployed.
 *
 * @param place where both are, if that is known.
 * @returns what someone has to mean: every change that `ordinary.ts` does not list.
 */
export function findChanges(
  deployed: StackToCompare,
  next: StackToCompare,
  place?: Place,
): Finding[] {
  const moves = tableMoves(deployed.template, next.template);
  const was = comparable(deployed.template, moves, place);
  const is = comparable(next.template, moves, place);
  const diff = fullDiff(was, is);
  const all = listChanges(was, is, diff);
  const changes = all.filter(
    (change) => !isOrdinary(change, is) && !moves.some((move) => isToldBy(move, change)),
  );
  const grants = listGrants(diff.iamChanges).filter((grant) => !isOrdinaryGrant(grant, all));

  const operations = changes.filter(isFunction).map((lambda) => operation(lambda, changes, grants));
  const together = [...operations, ...alarmsRemoved(changes, is)];
  const told = new Set(together.flatMap((finding) => finding.tells));
  const findings = [
    ...moves.map(({ name, was, is }) => ({ name, text: `${was} becomes ${is}` })),
    ...together,
    ...changes.filter((change) => !told.has(change)).map(changeFinding),
    ...grants.filter((grant) => !told.has(grant)).map(grantFinding),
  ];
  if (deployed.terminationProtection && !next.terminationProtection) {
    findings.push({ name: "termination-protection", text: "the stack can then be deleted" });
  }
  const paths = { ...was, Resources: { ...is.Resources, ...was.Resources } };
  return findings.map(({ name, text }) => ({
    name: acceptable(withPaths(name, paths)),
    text: withPaths(text, paths),
  }));
}

/** Whether a change is one of a move: the variable, or a restored table that the stack adopts. */
function isToldBy({ variable, tables }: TableMove, change: Change): boolean {
  const { id, kind, property, was, is } = change;
  const isVariable = property === `Environment.Variables.${variable}`;
  const isSet = was !== undefined && is !== undefined;
  return (isVariable && isSet) || (kind === "added" && tables.has(id));
}

/** A finding that tells several changes and grants, which belong together. */
interface Together extends Finding {
  tells: (Change | Grant)[];
}

/** An operation that comes, with what its role may do, or that goes. */
function operation(lambda: Change, changes: Change[], grants: Grant[]): Together {
  const parts = partsOf(lambda, changes);
  const name = `operation-${lambda.kind}:${lambda.path}`;
  if (lambda.kind === "removed") return { name, text: removal(parts), tells: parts };
  const role = `AWS:${lambda.resource?.Properties?.["Role"]}`.replace(/\.Arn\}$/, "}");
  const own = grants.filter(({ isGained, principal }) => isGained && principal === role);
  const allowed = own.map(({ action, resource }) => `${action} on ${resource}`).join(", ");
  const routes = parts.some(({ type }) => type === "AWS::ApiGateway::Method");
  const route = routes ? "its route has the authorizer" : "it has no route";
  return {
    name,
    text: `${route}; its role may ${allowed || "nothing"}`,
    tells: [...parts, ...own],
  };
}

/** The alarms, with all that goes with them, when the next template has none. */
function alarmsRemoved(changes: Change[], next: Template): Together[] {
  const parts = partsOfAlarms(changes, next);
  if (parts.length === 0) return [];
  const text = `nothing tells of failures or rolls back new code; ${removal(parts)}`;
  return [{ name: "alarms-removed", text, tells: parts }];
}

/** What is deleted and what is kept of parts that leave the stack, by type. */
function removal(parts: Change[]): string {
  const outcomes = Map.groupBy(parts, (part) => (isKept(part) ? "kept" : "deleted"));
  const listed = [...outcomes].map(([outcome, changes]) => {
    const types = Map.groupBy(changes, ({ type }) => type.replace("AWS::", ""));
    const counts = [...types].map(([type, { length }]) => `${length} ${type}`);
    return `${outcome}: ${counts.join(", ")}`;
  });
  return listed.join("; ");
}

function isKept({ resource }: Change): boolean {
  return /^Retain/.test(String(resource?.["DeletionPolicy"]));
}

function changeFinding(change: Change): Finding {
  const { kind, path, property, type, was, is } = change;
  const name = names[path] ?? names[`${type} ${property}`];
  const becomes = `${valueText(was)} becomes ${valueText(is)}`;
  switch (kind) {
    case "added":
      return { name: `added:${path}`, text: isOpenRoute(change) ? "open to anyone" : type };
    case "removed": {
      const text = isKept(change) ? "leaves the stack, but is kept" : "is deleted";
      return { name: name ?? `removed:${path}`, text };
    }
    case "replaced":
      return { name: `replaced:${path}`, text: `a new one replaces it: ${property}: ${becomes}` };
    case "changed": {
      const alone = name === "tls" ? `${path}: deploy it alone, without the canary; ` : "";
      const place = property === "" ? path : `${path}.${property}`;
      return { name: name ?? `changed:${place}`, text: alone + becomes };
    }
  }
}

function grantFinding({ isGained, principal, action, resource, condition }: Grant): Finding {
  const verb = isGained ? "grant" : "revoke";
  const who = principal.replace(/^AWS:(?=\$)/, "");
  const parts = [verb, who, action, resource, condition].filter((part) => part !== "");
  const text = `${who} ${isGained ? "may then" : "may no longer"} ${action} on ${resource}`;
  return { name: parts.join(":"), text: condition === "" ? text : `${text} if ${condition}` };
}

/** A value of a template, cut where it gets long. */
function valueText(value: unknown): string {
  if (value === undefined) return "unset";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 150 ? `${text.slice(0, 150)}...` : text;
}
