import type { Change } from "./changes.ts";
import { type Grant, isGrant, leaves } from "./template.ts";

/** Says what a change does, for people. Nothing is cut: each grant that differs is there whole. */
export function changeText(change: Change): string {
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
function factsOf(part: unknown, holder: string): string[] {
  return leaves(part).flatMap(({ property, is }) => {
    const [name] = /AuthorizationType$|AuthType$/.exec(property) ?? [];
    if (name) return `${name} ${is}`;
    const isFact = isGrant(is) || String(is).startsWith("arn:");
    return isFact ? valueText(is, holder) : [];
  });
}

/** How a value changes: of lists, the members that differ. */
function becomes(was: unknown, is: unknown, holder: string): string {
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
export function valueText(value: unknown, holder = ""): string {
  if (value === undefined) return "unset";
  const spelt = (part: unknown) => (isGrant(part) ? grantText(part, holder) : part);
  const text = spelt(value);
  return typeof text === "string" ? text : JSON.stringify(text, (_, part) => spelt(part));
}

/** Who may do what, on what, and whatever else a grant says. */
function grantText({ Effect = "Allow", ...terms }: Grant, holder: string): string {
  const who = "NotPrincipal" in terms ? {} : { Principal: holder };
  return `${Effect} ${spell({ ...who, ...terms })}`;
}

/** Like `AWS 222222222222`. The members of a list have no names, and an empty part keeps its own. */
function spell(value: unknown): string {
  if (Array.isArray(value)) return value.map(spell).join(", ");
  if (Object(value) !== value) return String(value);
  const terms = Object.entries(Object(value));
  return terms.map(([name, inner]) => `${name} ${spell(inner)}`).join(", ");
}
