import { isDeepStrictEqual } from "node:util";
import { fullDiff, type Resource } from "@aws-cdk/cloudformation-diff";
import {
  isOperation,
  partsOf,
  partsOfAlarmActions,
  partsOfAlarms,
  partsOfCanary,
} from "./belonging.ts";
import { type Change, listChanges } from "./changes.ts";
import { type Grant, listGrants } from "./grants.ts";
import { isOrdinary } from "./ordinary.ts";
import { isOrdinaryGrant } from "./ordinary-grants.ts";
import type { StackToCompare } from "./stacks.ts";
import {
  comparable,
  elsewhere,
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

/** The findings with names of their own, by type and property, or by path. */
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
  const resources = { ...was.Resources, ...is.Resources };
  const changes = all.filter(
    (change) => !isOrdinary(change, is) && !moves.some((move) => covers(move, change, resources)),
  );
  const grants = listGrants(diff.iamChanges).filter((grant) => !isOrdinaryGrant(grant, all));

  const grouped = group(changes, grants, all, was, is);
  const covered = new Set(grouped.flatMap((finding) => finding.covers));
  const findings = [
    ...moves.map((move) => ({ name: move.name, text: `${move.was} becomes ${move.is}` })),
    ...grouped,
    ...changes.filter((change) => !covered.has(change)).map(changeFinding),
    ...grants.filter((grant) => !covered.has(grant)).map(grantFinding),
    ...elsewhere(deployed.template, next.template).map((text) => ({
      name: "value-elsewhere",
      text,
    })),
  ];
  if (deployed.terminationProtection && !next.terminationProtection) {
    findings.push({ name: "termination-protection", text: "the stack can then be deleted" });
  }
  const paths = { ...was, Resources: resources };
  return findings.map(({ name, text }) => ({
    name: acceptable(withPaths(name, paths)),
    text: withPaths(text, paths),
  }));
}

/**
 * Whether a move covers a change: the variable itself, and the table that the stack adopts, if it
 * is set like one of those that it takes the place of.
 */
function covers(
  { variable, tables }: TableMove,
  { id, kind, property, was, is, resource }: Change,
  resources: Record<string, Resource>,
): boolean {
  const isVariable = property === `Environment.Variables.${variable}`;
  if (isVariable) return was !== undefined && is !== undefined;
  const { TableName: name, ...settings } = resource?.Properties ?? {};
  if (kind !== "added" || !tables.has(id) || typeof name !== "string") return false;
  return [...tables].some((other) => {
    const { TableName: _, ...others } = resources[other]?.Properties ?? {};
    return other !== id && isDeepStrictEqual(settings, others);
  });
}

/** A finding that covers several changes and grants, which belong together. */
interface Group extends Finding {
  covers: (Change | Grant)[];
}

/** Finds the changes that belong together. */
function group(
  changes: Change[],
  grants: Grant[],
  all: Change[],
  deployed: Template,
  next: Template,
): Group[] {
  const operations = changes
    .filter((change) => isOperation(change, all))
    .map((lambda) => operation(lambda, partsOf(lambda, changes, deployed), grants));
  const alarms = partsOfAlarms(changes, next);
  // The alarms go with their canary.
  const canary = alarms.length > 0 ? [] : partsOfCanary(changes);
  return [
    ...operations,
    ...named("alarms-removed", alarms, removal),
    ...named(
      "canary-removed",
      canary,
      ({ length }) => `new code of ${length} functions is live at once`,
    ),
    ...named("alarm-actions", partsOfAlarmActions(changes), differentActions),
  ];
}

function differentActions(alarms: Change[]): string {
  const differences = alarms.map(({ was, is }) => `${valueText(was)} becomes ${valueText(is)}`);
  return `${alarms.length} alarms: ${[...new Set(differences)].join("; ")}`;
}

function named(name: string, parts: Change[], text: (parts: Change[]) => string): Group[] {
  return parts.length === 0 ? [] : [{ name, text: text(parts), covers: parts }];
}

/** An operation that comes, with what its role may do, or that goes. */
function operation(lambda: Change, parts: Change[], grants: Grant[]): Group {
  const name = `operation-${lambda.kind}:${lambda.path}`;
  if (lambda.kind === "removed") return { name, text: removal(parts), covers: parts };
  const role = `AWS:${lambda.resource?.Properties?.["Role"]}`.replace(/\.Arn\}$/, "}");
  const own = grants.filter(({ isGained, principal }) => isGained && principal === role);
  const allowed = own.map(({ action, resource }) => `${action} on ${resource}`).join(", ");
  const hasRoute = parts.some(
    ({ resource }) => resource?.Properties?.["AuthorizationType"] === "CUSTOM",
  );
  const route = hasRoute ? "its route has the authorizer" : "no route with the authorizer";
  const text = `${route}; its role is allowed ${allowed || "nothing"}`;
  return { name, text, covers: [...parts, ...own] };
}

/** Says how many parts that leave the stack are deleted, and how many kept, by type. */
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
      return { name: `added:${path}`, text: addedText(change) };
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

function addedText({ type, resource }: Change): string {
  if (type !== "AWS::ApiGateway::Method") return type;
  const { AuthorizationType: authorization } = resource?.Properties ?? {};
  return authorization === "NONE" ? "open to anyone" : `${type}, ${authorization}`;
}

function grantFinding({ isGained, principal, action, resource, condition }: Grant): Finding {
  const verb = isGained ? "grant" : "revoke";
  const who = principal.replace(/^AWS:(?=\$)/, "");
  const parts = [verb, who, action, resource, condition].filter((part) => part !== "");
  const text = `${who} ${isGained ? "may then do" : "may no longer do"} ${action} on ${resource}`;
  return { name: parts.join(":"), text: condition === "" ? text : `${text} if ${condition}` };
}

/** A value of a template, cut where it gets long. */
function valueText(value: unknown): string {
  if (value === undefined) return "unset";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 150 ? `${text.slice(0, 150)}...` : text;
}
