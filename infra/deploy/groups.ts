import { isDeepStrictEqual } from "node:util";
import type { Change } from "./changes.ts";
import { isForeign } from "./grants.ts";
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
    const alone = findings.filter(standsAlone);
    const together = findings.filter((change) => !alone.includes(change));
    return [together, ...alone.map((change) => [change])].filter(
      ({ length }) => length > 0,
    );
  });
}

/** Whether data leaves, or others may call what comes. */
function standsAlone({ kind, is, property, replaces, content }: Change): boolean {
  if (kind === "removed" || replaces) return content["DeletionPolicy"] !== undefined;
  // A route with a constant response is no opening.
  if (content.Properties?.["Integration"]?.Type === "MOCK") return false;
  const isOpen = /(AuthorizationType|AuthType)":"NONE"/.test(
    JSON.stringify({ [property]: is }),
  );
  return isOpen || isForeign(is);
}

/**
 * Whether a change belongs to another one: it is equal; or it comes or goes as that does, and
 * refers to that or its metrics; or it changes nothing but references to what comes or goes.
 */
function isPart(change: Change, of: Change, changes: Change[]): boolean {
  if (change.kind === of.kind && of.kind !== "changed") return mentions(change, of);
  if (change.kind !== "changed") return false;
  if (of.kind === "changed") {
    const [its, others] = [change, of].map(({ type, property, is }) => [
      type,
      property,
      is,
    ]);
    return isDeepStrictEqual(its, others);
  }
  const values = leaves(of.kind === "added" ? change.is : change.was).map(
    ([, value]) => value,
  );
  const wholes = changes.filter(({ kind }) => kind === of.kind);
  return (
    values.some((value) => isAbout(value, of)) &&
    values.every((value) => wholes.some((whole) => isAbout(value, whole)))
  );
}

function isAbout(value: unknown, { path }: Change): boolean {
  return value === `{${path}}` || String(value).startsWith(`{${path}.`);
}

function mentions({ path, content }: Change, of: Change): boolean {
  const metrics: { MetricName: string }[] =
    of.content.Properties?.["MetricTransformations"] ?? [];
  const text = JSON.stringify(content);
  return (
    path.startsWith(`${of.path}/`) ||
    text.includes(`{${of.path}}`) ||
    text.includes(`{${of.path}.`) ||
    metrics.some(({ MetricName }) => text.includes(`"MetricName":"${MetricName}"`))
  );
}
