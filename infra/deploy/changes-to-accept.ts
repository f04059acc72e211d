import { createHash } from "node:crypto";
import { changeText, valueText } from "./change-text.ts";
import { type Change, listChanges } from "./changes.ts";
import { groupChanges } from "./groups.ts";
import { isOrdinary } from "./ordinary.ts";
import type { StackToCompare } from "./stacks.ts";
import { comparable, join, type Leaf, leaves, type Place } from "./template.ts";

/** A change that must be accepted before it is deployed. */
export interface Finding {
  /** The name for `--accept`: without spaces, and for exactly this change. */
  name: string;
  text: string;
}

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
) {
  const before = comparable(deployed.template, place);
  const after = comparable(next.template, place);
  const findings = groupChanges(listChanges(before, after)).map(finding);
  if (deployed.terminationProtection && !next.terminationProtection)
    findings.push({
      name: "termination-protection",
      text: "the stack can then be deleted",
    });
  return findings;
}

/** Names a group after the shortest path of what comes or goes, or else of what changes. */
function finding(group: Change[]): Finding {
  const sorted = group.toSorted((a, b) => a.path.length - b.path.length);
  const [first, second] = sorted as [Change, ...Change[]];
  const whole = sorted.find(({ kind }) => kind !== "changed");
  const label = labelOf(first, second?.type === first.type ? first.type : first.path);
  const becomes = `${first.replaces ? "replaced:" : ""}${label}=${exactly(first.is)}`;
  if (!second && !whole) return { name: findingName(becomes), text: changeText(first) };
  const subject = whole ? `${whole.kind}:${whole.path}` : becomes;
  const covered = sorted.map((change) => [change.kind, change.path, reviewed(change)]);
  const texts = sorted.map((change) => `${labelOf(change)}: ${changeText(change)}`);
  return { name: findingName(`${subject}@${digest(covered)}`), text: texts.join("; ") };
}

/** Like `CancelOrder.MemorySize`; only the owner for all of a resource or its properties. */
function labelOf({ path, property }: Change, owner = path): string {
  return join(owner, property.replace(/^Properties\b\.?/, ""));
}

/** The values that a change sets or takes away, except ordinary ones: new code changes no digest. */
function reviewed(change: Change): Leaf[] {
  const { kind, property, was, is } = change;
  return leaves(kind === "removed" ? was : is, property).filter(
    (leaf) => !isOrdinary({ ...change, ...leaf, kind: "changed", was: undefined }),
  );
}

/** A short value as it is, or a digest. */
function exactly(value: unknown): string {
  const text = valueText(value);
  return text.length <= 60 && text === findingName(text) ? text : digest(value);
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 12);
}
