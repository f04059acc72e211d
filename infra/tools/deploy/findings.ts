import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type Account,
  type Change,
  comparable,
  type Grant,
  isGrant,
  leaves,
  listChanges,
  propertyPath,
  type Template,
} from "./changes.ts";
import { isOrdinary } from "./ordinary.ts";

/** A change that must be accepted before it is deployed. */
export interface Finding {
  /** The name for `--accept`: without spaces, and for exactly this change. */
  name: string;
  text: string;
}

/** A stack as it is deployed, or as it is about to be. */
interface StackToCompare {
  template: Template;
  /** CloudFormation keeps it beside the template. Undefined for a saved template. */
  terminationProtection?: boolean | undefined;
}

/** Turns a text into a finding's name: characters that need care in a shell become hyphens. */
export function findingName(text: string): string {
  return text.replace(/[^\w.:/*@{}+=,-]+/g, "-");
}

/**
 * Compares the deployed stack with the next one.
 *
 * @param account where both are, if that is known.
 * @returns the changes to accept: all that `ordinary.ts` does not list.
 */
export function findChanges(
  deployed: StackToCompare,
  next: StackToCompare,
  account?: Account,
): Finding[] {
  const before = comparable(deployed.template, account);
  const after = comparable(next.template, account);
  const findings = groupChanges(listChanges(before, after)).map(finding);
  if (deployed.terminationProtection && !next.terminationProtection)
    findings.push({
      name: "termination-protection",
      text: "the stack can then be deleted",
    });
  return findings;
}

/**
 * Puts together what comes or goes with what refers to it, and equal changes of one type. What is
 * ordinary only connects the rest. Data that leaves and openings that come are groups of their own.
 */
function groupChanges(changes: Change[]): Change[][] {
  const connected: Change[][] = [];
  for (const change of changes) {
    const related = connected.filter((group) =>
      group.some(
        (other) => belongsTo(change, other, changes) || belongsTo(other, change, changes),
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
function standsAlone({ kind, is, property, replaces, content }: Change) {
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
function belongsTo(change: Change, other: Change, changes: Change[]) {
  const { kind, type, property, is } = other;
  if (kind === "changed")
    return (
      change.type === type &&
      change.property === property &&
      isDeepStrictEqual(change.is, is)
    );
  if (change.kind === kind) return reference(other).test(JSON.stringify(change.content));
  const wholes = changes.filter((some) => some.kind === kind);
  const values = leaves(kind === "added" ? change.is : change.was);
  const subjects = values.map((value) =>
    wholes.find((whole) => String(value.is).search(reference(whole)) === 0),
  );
  return subjects.includes(other) && !subjects.includes(undefined);
}

/** The pattern of a reference to a part, or to one of its attributes. */
function reference({ path }: Change) {
  return new RegExp(`\\{${RegExp.escape(path)}[.}]`);
}

/** Names a group after the shortest path of what comes or goes, or else of what changes. */
function finding(group: Change[]): Finding {
  const sorted = group.toSorted((a, b) => a.path.length - b.path.length);
  const [first, second] = sorted as [Change, ...Change[]];
  const whole = sorted.find(({ kind }) => kind !== "changed");
  const label = labelOf(first, second?.type === first.type ? first.type : first.path);
  const setting = `${first.replaces ? "replaced:" : ""}${label}=${valueOrDigest(first.is)}`;
  if (!second && !whole) return { name: findingName(setting), text: changeText(first) };
  const subject = whole ? `${whole.kind}:${whole.path}` : setting;
  const covered = sorted.map((change) => [change.kind, change.path, reviewed(change)]);
  const texts = sorted.map((change) => `${labelOf(change)}: ${changeText(change)}`);
  return { name: findingName(`${subject}@${digest(covered)}`), text: texts.join("; ") };
}

/** Like `CancelOrder.MemorySize`; only the owner for all of a resource or its properties. */
function labelOf({ path, property }: Change, owner = path) {
  return propertyPath(owner, property.replace(/^Properties\b\.?/, ""));
}

/** The values that a change sets or takes away, except ordinary ones: new code changes no digest. */
function reviewed(change: Change) {
  const { kind, property, was, is } = change;
  return leaves(kind === "removed" ? was : is, property).filter(
    (leaf) => !isOrdinary({ ...change, ...leaf, kind: "changed", was: undefined }),
  );
}

/** A short value as it is, or a digest. */
function valueOrDigest(value: unknown) {
  const text = valueText(value);
  return text.length <= 60 && text === findingName(text) ? text : digest(value);
}

function digest(value: unknown) {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 12);
}

/** Says what a change does, for people. Nothing is cut: each grant that differs is there whole. */
function changeText(change: Change) {
  const { kind, path, type, was, is } = change;
  const { DeletionPolicy, Properties = {} } = change.content;
  const { Groups = [], Roles = [], Users = [] } = Properties;
  const holder = [Groups, Roles, Users].flat().join(", ") || path;
  if (kind === "added") return [`a new ${type}`, ...factsOf(is, holder)].join(", ");
  const replacement = change.replaces ? ", and a new resource replaces it" : "";
  if (kind === "changed") return becomes(was, is, holder) + replacement;
  const isKept = String(DeletionPolicy).startsWith("Retain");
  return `${type} ${isKept ? "leaves the stack, but is kept" : "is deleted"}`;
}

/** Whom something new lets in, what it may do, and the ARNs that it names. */
function factsOf(part: unknown, holder: string) {
  return leaves(part).flatMap(({ property, is }) => {
    const [name] = /AuthorizationType$|AuthType$/.exec(property) ?? [];
    if (name) return `${name} ${is}`;
    const isFact = isGrant(is) || String(is).startsWith("arn:");
    return isFact ? valueText(is, holder) : [];
  });
}

/** How a value changes: of lists, the members that differ. */
function becomes(was: unknown, is: unknown, holder: string) {
  const spelt = (value: unknown) => valueText(value, holder);
  const whole = `${spelt(was)} becomes ${spelt(is)}`;
  const [before = [], after = []] = [was, is];
  if (!(Array.isArray(before) && Array.isArray(after))) return whole;
  const old = new Set(before.map(spelt));
  const now = new Set(after.map(spelt));
  const gained = [...now.difference(old)].map((text) => `gains ${text}`);
  const lost = [...old.difference(now)].map((text) => `loses ${text}`);
  return [...gained, ...lost].join("; ") || whole;
}

/**
 * A text as it is, a grant as a sentence, and anything else as JSON.
 *
 * @param holder who holds a grant that names no one.
 */
function valueText(value: unknown, holder = "") {
  if (value === undefined) return "unset";
  const json = JSON.stringify(value, (_, part) =>
    isGrant(part) ? grantText(part, holder) : part,
  );
  const text: unknown = JSON.parse(json);
  return typeof text === "string" ? text : json;
}

/** Who may do what, on what, and whatever else a grant says. */
function grantText({ Effect = "Allow", ...terms }: Grant, holder: string) {
  const who = "NotPrincipal" in terms ? {} : { Principal: holder };
  return `${Effect} ${termsText({ ...who, ...terms })}`;
}

/** Like `AWS 222222222222`. The members of a list have no names, and an empty part keeps its own. */
function termsText(value: unknown): string {
  if (Array.isArray(value)) return value.map(termsText).join(", ");
  if (Object(value) !== value) return String(value);
  const terms = Object.entries(Object(value));
  return terms.map(([name, inner]) => `${name} ${termsText(inner)}`).join(", ");
}
