import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { printable } from "../terminal/text.ts";
import {
  type Account,
  type Change,
  comparable,
  type Grant,
  isGrant,
  isObject,
  leaves,
  listChanges,
  type Template,
} from "./compare-templates.ts";
import { isOrdinary } from "./ordinary.ts";

/** Changes that must be accepted before a deployment. */
export interface Review {
  /** The word for `--accept`, which accepts exactly these lines. */
  word: string;
  /** Changes, by path; first, marked `!`, data that is lost and doors that open. */
  lines: string[];
}

/** A stack as it is deployed, or as it is about to be. */
interface StackToCompare {
  template: Template;
  /** CloudFormation keeps it beside the template. Undefined for a saved template. */
  terminationProtection?: boolean | undefined;
}

/**
 * Compares the deployed stack with the next one.
 *
 * @param account where both are, if the environment is pinned to it.
 * @returns the changes to accept: all that `ordinary.ts` does not list. The word for those of the
 * template is a digest of their lines. Termination protection, which a saved template doesn't tell,
 * has a word of its own.
 */
export function review(
  deployed: StackToCompare,
  next: StackToCompare,
  account?: Account,
): Review[] {
  const before = comparable(deployed.template, account);
  const after = comparable(next.template, account);
  const changes = listChanges(before, after).filter((change) => !isOrdinary(change));
  const grave = Map.groupBy(changes, isGrave);
  const lines = [...linesOf("!", grave.get(true)), ...linesOf(" ", grave.get(false))];
  const hash = createHash("sha256").update(lines.join("\n")).digest("hex");
  const reviews = lines.length > 0 ? [{ word: hash.slice(0, 32), lines }] : [];
  if (deployed.terminationProtection && !next.terminationProtection)
    reviews.unshift({
      word: "termination-protection",
      lines: ["! Stack: loses its termination protection, and can then be deleted"],
    });
  return reviews;
}

/** Properties that protect data. Changes that protect more are ordinary. */
const protection =
  /DeletionPolicy|DeletionProtection|UpdateReplacePolicy|PointInTimeRecovery|TimeToLive/;

/**
 * An address without authorization, or a grant of all actions, all of a service, or to anyone but a
 * service of AWS.
 */
const opening =
  /AuthType":"NONE"|^(?!.*"Effect":"Deny").*("Not(Action|Principal)"|"Action":(\[[^\]]*)?"([\w*-]+:)?\*"|"Principal":(?!"[\w.-]+\.amazonaws\.com"|\{"Service":[^,}]+\}))/;

/** Whether data may be lost, or others may call what they could not. */
function isGrave({ kind, type, property, was, is, replaces, content }: Change) {
  const { DeletionPolicy, Properties = {} } = content;
  const isGone = kind === "removed" || replaces;
  const { AuthorizationType = "NONE", Integration } = Properties;
  const isOpenRoute =
    /::(Method|Route)$/.test(type) &&
    kind !== "removed" &&
    AuthorizationType === "NONE" &&
    // Others have a constant response.
    Integration?.Type !== "MOCK";
  return (
    (isGone && DeletionPolicy !== undefined) ||
    isOpenRoute ||
    protection.test(property) ||
    /"Effect":"Deny"/.test(JSON.stringify({ was })) ||
    leaves(is, property).some((leaf) =>
      opening.test(JSON.stringify({ [leaf.property]: leaf.is })),
    )
  );
}

/** A line for each text, with the paths of all that it is said of. */
function linesOf(mark: string, changes: Change[] = []) {
  const lines = [...Map.groupBy(changes, changeText)].map(([text, equal]) => {
    const paths = equal.map(({ path }) => path).sort();
    return printable(`${mark} ${paths.join(", ")}: ${text}`);
  });
  return lines.sort();
}

/** Says what a change does, for people. Nothing is cut. */
function changeText(change: Change) {
  const { kind, path, type, property, was, is } = change;
  const { DeletionPolicy, Properties = {} } = change.content;
  const { Groups = [], Roles = [], Users = [] } = Properties;
  const holder = [Groups, Roles, Users].flat().join(", ") || path;
  if (kind === "changed") {
    const replacement = change.replaces ? ", and a new resource replaces it" : "";
    return `${nameOf(property)}: ${becomes(was, is, holder)}${replacement}`;
  }
  const isKept = String(DeletionPolicy).startsWith("Retain");
  const end = `${type} ${isKept ? "leaves the stack, but is kept" : "is deleted"}`;
  const values = coveredValues(change).map(
    (leaf) => `${nameOf(leaf.property)} ${valueText(leaf.is, holder)}`,
  );
  return [kind === "added" ? `a new ${type}` : end, ...values].join("; ");
}

/** The values of a new part that are not ordinary, like its code; the grants of one that goes. */
function coveredValues(change: Change) {
  const { kind, content } = change;
  if (kind === "removed") return leaves(content).filter((leaf) => isGrant(leaf.is));
  const { Type: _type, ...members } = content;
  return leaves(members).filter(
    (leaf) => !isOrdinary({ ...change, ...leaf, kind: "changed", was: undefined }),
  );
}

/** A property's path as it is in AWS's own documents. */
function nameOf(property: string) {
  return property.replace(/^Properties\./, "");
}

/** How a value changes: of lists that keep their order, the members that come and go. */
function becomes(was: unknown, is: unknown, holder: string) {
  const spelt = (value: unknown) => valueText(value, holder);
  const whole = `${spelt(was)} becomes ${spelt(is)}`;
  const [old = [], now = []] = [was, is];
  if (!(Array.isArray(old) && Array.isArray(now))) return whole;
  const before = old.map(spelt);
  const after = now.map(spelt);
  const isKept = (text: string) => before.includes(text) && after.includes(text);
  if (!isDeepStrictEqual(before.filter(isKept), after.filter(isKept))) return whole;
  const gained = after.map((text) => !isKept(text) && `gains ${text}`);
  const lost = before.map((text) => !isKept(text) && `loses ${text}`);
  return [...gained, ...lost].filter(Boolean).join("; ") || whole;
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
  if (!isObject(value)) return String(value);
  const terms = Object.entries(value);
  return terms.map(([name, inner]) => `${name} ${termsText(inner)}`).join(", ");
}
