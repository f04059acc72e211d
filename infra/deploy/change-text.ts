import type { Change } from "./changes.ts";
import { grantText, isGrant } from "./grants.ts";

/** Says what a change does, for people. Nothing is cut: each grant that differs is there whole. */
export function changeText(change: Change): string {
  const { kind, path, type, was, is, replaces } = change;
  const { DeletionPolicy, Properties = {} } = change.resource;
  const { Groups = [], Roles = [], Users = [] } = Properties;
  const holder = [Groups, Roles, Users].flat().join(", ") || path;
  if (kind === "added") return [`a new ${type}`, ...factsOf(is, holder)].join(", ");
  if (kind === "changed")
    return `${becomes(was, is, holder)}${replaces ? ", and a new resource replaces it" : ""}`;
  const isKept = String(DeletionPolicy).startsWith("Retain");
  return `${type} ${isKept ? "leaves the stack, but is kept" : "is deleted"}`;
}

/** Whom something new lets in, what it may do, and the ARNs that it names. */
function factsOf(part: unknown, holder: string): string[] {
  if (isGrant(part)) return [grantText(part, holder)];
  if (typeof part === "string") return part.startsWith("arn:") ? [part] : [];
  return Object.entries(Object(part)).flatMap(([name, inner]) =>
    ["AuthorizationType", "AuthType"].includes(name)
      ? [`${name} ${valueText(inner)}`]
      : factsOf(inner, holder),
  );
}

/** How a value changes: of lists, the members that differ. */
function becomes(was: unknown, is: unknown, holder: string): string {
  const [before = [], after = []] = [withGrants(was, holder), withGrants(is, holder)];
  const areLists = Array.isArray(before) && Array.isArray(after);
  const [old, now] = areLists ? [before.map(valueText), after.map(valueText)] : [[], []];
  const gained = now.filter((text) => !old.includes(text)).map((text) => `gains ${text}`);
  const lost = old.filter((text) => !now.includes(text)).map((text) => `loses ${text}`);
  if (gained.length + lost.length > 0) return [...gained, ...lost].join("; ");
  return `${valueText(withGrants(was, holder))} becomes ${valueText(withGrants(is, holder))}`;
}

/** A value with the grants in it spelt out. */
function withGrants(value: unknown, holder: string): unknown {
  if (isGrant(value)) return grantText(value, holder);
  if (Array.isArray(value)) return value.map((member) => withGrants(member, holder));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, withGrants(inner, holder)]);
  return Object.fromEntries(entries);
}

export function valueText(value: unknown): string {
  if (value === undefined) return "unset";
  return typeof value === "string" ? value : JSON.stringify(value);
}
