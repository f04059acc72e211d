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
  newOutsideValues,
  type Place,
  referredId,
  type TableMove,
  type Template,
  tableMoves,
  withPaths,
} from "./template.ts";

/** A change that must be accepted before it is deployed. */
export interface Finding {
  /** The name for `--accept`: without spaces, and the same for the same change. */
  name: string;
  /** The change, for people. */
  text: string;
}

/** Short names of some findings, by property or path. */
const shortNames: Record<string, string> = {
  EndpointAccessMode: "tls",
  IdentityValidationExpression: "key-expression",
  "Outputs.BaseUrl": "base-url",
  SecurityPolicy: "tls",
};

/** Turns a text into a finding's name: characters that need care in a shell become hyphens. */
export function findingName(text: string): string {
  return text.replace(/[^\w.:/*@{}+=,-]+/g, "-");
}

/**
 * Compares the deployed stack with the next one.
 *
 * @param place where both are, if that is known.
 * @returns the changes to accept: all that `ordinary.ts` does not list.
 */
export function findChanges(
  deployed: StackToCompare,
  next: StackToCompare,
  place?: Place,
): Finding[] {
  const moves = tableMoves(deployed.template, next.template);
  const before = comparable(deployed.template, moves, place);
  const after = comparable(next.template, moves, place);
  const diff = fullDiff(before, after);
  const allChanges = listChanges(before, after, diff);
  const resources = { ...before.Resources, ...after.Resources };
  const changes = allChanges
    .filter((change) => !isOrdinary(change, after))
    .filter((change) => !moves.some((move) => isPartOfMove(change, move, resources)));
  const grants = listGrants(diff.iamChanges).filter((grant) => !isOrdinaryGrant(grant, allChanges));

  const groups = findGroups(changes, grants, allChanges, before, after);
  const grouped = new Set(groups.flatMap(({ parts }) => parts));
  const outsideValues = newOutsideValues(deployed.template, next.template);
  const findings = [
    ...moves.map(({ name, was, is }) => ({ name, text: `${was} becomes ${is}` })),
    ...groups,
    ...changes.filter((change) => !grouped.has(change)).map(changeFinding),
    ...grants.filter((grant) => !grouped.has(grant)).map(grantFinding),
    ...outsideValues.map((text) => ({ name: "value-elsewhere", text })),
  ];
  if (deployed.terminationProtection && !next.terminationProtection) {
    findings.push({ name: "termination-protection", text: "the stack can then be deleted" });
  }
  // Removed resources have their paths in the deployed template only.
  const bothTemplates = { ...after, Resources: resources };
  return findings.map(({ name, text }) => ({
    name: findingName(withPaths(name, bothTemplates)),
    text: withPaths(text, bothTemplates),
  }));
}

/**
 * Whether a change is part of a move: the variable's new value, or the adopted table, if it has the
 * settings of another table of the move.
 */
function isPartOfMove(
  { id, kind, property, was, is, resource }: Change,
  { variable, tables }: TableMove,
  resources: Record<string, Resource>,
): boolean {
  const isVariable = property === `Environment.Variables.${variable}`;
  if (isVariable) return was !== undefined && is !== undefined;
  const isAdopted = kind === "added" && typeof resource?.Properties?.["TableName"] === "string";
  if (!isAdopted || !tables.has(id)) return false;
  return [...tables].some(
    (otherId) =>
      otherId !== id &&
      isDeepStrictEqual(tableSettings(resource), tableSettings(resources[otherId])),
  );
}

function tableSettings(table: Resource | undefined): Record<string, unknown> {
  return { ...table?.Properties, TableName: undefined };
}

/** A finding that covers several changes and grants, which belong together. */
interface Group extends Finding {
  parts: (Change | Grant)[];
}

/** Finds the changes that belong together. */
function findGroups(
  changes: Change[],
  grants: Grant[],
  allChanges: Change[],
  deployed: Template,
  next: Template,
): Group[] {
  const operations = changes
    .filter((change) => isOperation(change, allChanges))
    .map((lambda) => operationGroup(lambda, partsOf(lambda, changes, deployed), grants));
  const alarms = partsOfAlarms(changes, next);
  // The alarms go with their canary.
  const canary = alarms.length > 0 ? [] : partsOfCanary(changes);
  const actions = partsOfAlarmActions(changes);
  const others = [
    { name: "alarms-removed", text: removalText(alarms), parts: alarms },
    { name: "canary-removed", text: canaryText(canary), parts: canary },
    { name: "alarm-actions", text: actionsText(actions), parts: actions },
  ];
  return [...operations, ...others.filter(({ parts }) => parts.length > 0)];
}

function canaryText(aliases: Change[]): string {
  return `new code of ${aliases.length} functions then gets all requests at once`;
}

function actionsText(alarms: Change[]): string {
  const differences = alarms.map(({ was, is }) => `${valueText(was)} becomes ${valueText(is)}`);
  return `${alarms.length} alarms: ${[...new Set(differences)].join("; ")}`;
}

/** Groups the changes of an added operation, with what its role may do, or of a removed one. */
function operationGroup(lambda: Change, parts: Change[], grants: Grant[]): Group {
  const name = `operation-${lambda.kind}:${lambda.path}`;
  if (lambda.kind === "removed") return { name, text: removalText(parts), parts };
  const role = `AWS:\${${referredId(lambda.resource?.Properties?.["Role"])}}`;
  const own = grants.filter(({ isGained, principal }) => isGained && principal === role);
  const allowed = own.map(({ action, resource }) => `${action} on ${resource}`).join(", ");
  const hasGuardedRoute = parts.some(
    ({ resource }) => resource?.Properties?.["AuthorizationType"] === "CUSTOM",
  );
  const route = hasGuardedRoute ? "its route has the authorizer" : "no route with the authorizer";
  const text = `${route}; its role is allowed ${allowed || "nothing"}`;
  return { name, text, parts: [...parts, ...own] };
}

/** Counts the removed parts that are deleted, and those that are kept, by type. */
function removalText(parts: Change[]): string {
  const outcomes = Map.groupBy(parts, (part) => (isKept(part) ? "kept" : "deleted"));
  return [...outcomes].map(([outcome, some]) => `${outcome}: ${countByType(some)}`).join("; ");
}

function countByType(changes: Change[]): string {
  const types = Map.groupBy(changes, ({ type }) => type.replace("AWS::", ""));
  return [...types].map(([type, { length }]) => `${length} ${type}`).join(", ");
}

function isKept({ resource }: Change): boolean {
  return /^Retain/.test(String(resource?.["DeletionPolicy"]));
}

function changeFinding(change: Change): Finding {
  const { kind, path, property, was, is } = change;
  const name = shortNames[path] ?? shortNames[property];
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
      const advice = name === "tls" ? `${path}: deploy it alone, without the canary; ` : "";
      const changedPath = property === "" ? path : `${path}.${property}`;
      return { name: name ?? `changed:${changedPath}`, text: advice + becomes };
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
  // A role of this template goes by its path alone.
  const who = principal.replace(/^AWS:(?=\$)/, "");
  const parts = [verb, who, action, resource, condition].filter((part) => part !== "");
  const text = `${who} ${isGained ? "may then do" : "may no longer do"} ${action} on ${resource}`;
  return { name: parts.join(":"), text: condition === "" ? text : `${text} if ${condition}` };
}

/** A value of a template, cut when it is long. */
function valueText(value: unknown): string {
  if (value === undefined) return "unset";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 150 ? `${text.slice(0, 150)}...` : text;
}
