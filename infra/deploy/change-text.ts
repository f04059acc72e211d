import type { Change } from "./changes.ts";
import { grantText, isGrant } from "./grants.ts";

/** Says what a change does, for people. Nothing is cut: each grant that differs is there whole. */
export function changeText(change: Change): string {
  const { kind, path, type, was, is, replaces } = change;
  const { DeletionPolicy, Properties = {} } = change.content;
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
  const spellGrants = (_: string, part: unknown) =>
    isGrant(part) ? grantText(part, holder) : part;
  const spell = (value: unknown) =>
    valueText(value && JSON.parse(JSON.stringify(value), spellGrants));
  const whole = `${spell(was)} becomes ${spell(is)}`;
  const [before = [], after = []] = [was, is];
  if (!(Array.isArray(before) && Array.isArray(after))) return whole;
  const old = new Set(before.map(spell));
  const now = new Set(after.map(spell));
  const gained = [...now.difference(old)].map((text) => `gains ${text}`);
  const lost = [...old.difference(now)].map((text) => `loses ${text}`);
  return [...gained, ...lost].join("; ") || whole;
}

export function valueText(value: unknown): string {
  if (value === undefined) return "unset";
  return typeof value === "string" ? value : JSON.stringify(value);
}
