import { isDeepStrictEqual } from "node:util";
import type { Change } from "./changes.ts";
import { isOrdinary } from "./ordinary.ts";
import { leaves } from "./template.ts";

/**
 * Puts together what comes or goes with what refers to it, and equal changes of one type. What is
 * ordinary only connects the rest. Data that leaves and openings that come are groups of their own.
 */
export function groupChanges(changes: Change[]): Change[][] {
  const connected: Change[][] = [];
  for (const change of changes) {
    const related = connected.filter((group) =>
      group.some(
        (other) => isPart(change, other, changes) || isPart(other, change, changes),
      ),
    );
    for (const group of related) connected.splice(connected.indexOf(group), 1);
    connected.push([...related.flat(), change]);
  }
  return connected.flatMap((group) => {
    const findings = group.filter((change) => !isOrdinary(change));
    const alone = (change: Change) => (standsAlone(change) ? change : group);
    return [...Map.groupBy(findings, alone).values()];
  });
}

/**
 * A method or address without authorization, or a grant, not a denial, to anyone but a service of
 * AWS.
 */
const opening =
  /(AuthorizationType|AuthType)":"NONE"|^(?!.*"Effect":"Deny").*("NotPrincipal"|"Principal":(?!"[\w.-]+\.amazonaws\.com"|\{"Service":[^,}]+\}))/;

/** Whether data leaves, or others may call what comes. */
function standsAlone({ kind, is, property, replaces, content }: Change): boolean {
  if (kind === "removed" || replaces) return content["DeletionPolicy"] !== undefined;
  // A route with a constant response is no opening.
  if (content.Properties?.["Integration"]?.Type === "MOCK") return false;
  return leaves(is, property).some((leaf) =>
    opening.test(JSON.stringify({ [leaf.property]: leaf.is })),
  );
}

/**
 * Whether a change belongs to another one: it is equal; or it comes or goes as that does, and
 * refers to that; or it changes nothing but references to what comes or goes.
 */
function isPart(change: Change, of: Change, changes: Change[]): boolean {
  const { kind, type, property, is } = of;
  if (kind === "changed")
    return (
      change.type === type &&
      change.property === property &&
      isDeepStrictEqual(change.is, is)
    );
  if (change.kind === kind)
    return new RegExp(reference(of)).test(JSON.stringify(change.content));
  const wholes = changes.filter((other) => other.kind === kind);
  const values = leaves(kind === "added" ? change.is : change.was);
  const subjects = values.map((value) =>
    wholes.find((whole) => new RegExp(`^${reference(whole)}`).test(String(value.is))),
  );
  return subjects.includes(of) && !subjects.includes(undefined);
}

/** The pattern of a reference to a part, or to one of its attributes. */
function reference({ path }: Change): string {
  return `\\{${RegExp.escape(path)}[.}]`;
}
