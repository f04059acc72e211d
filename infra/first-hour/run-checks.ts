import assert from "node:assert/strict";
import { once } from "node:events";
import type { StackResourceSummary } from "@aws-sdk/client-cloudformation";
import type { Clock } from "../../shared/clock.ts";
import type { Target } from "../admin/target.ts";
import { type Endpoint, reason } from "../smoke/client.ts";
import type { Line } from "../smoke/smoke-test.ts";

/** The deployed environment that checks run on, and the changes that are to be undone in it. */
export interface CheckContext extends Endpoint, Target {
  /** The resources of the stack. A logical id begins with the id of its construct. */
  resources: StackResourceSummary[];
  /** The folder of the working copy to deploy. */
  root: string;
  /** Another environment, whose alarms can be borrowed. */
  alarmsOf: string | undefined;
  clock: Clock;
  /** Once it aborts, nothing more is changed. */
  interrupted: AbortSignal;
  changes: { what: string; undo: () => Promise<unknown> }[];
}

/**
 * Checks of what only AWS itself can show, each under the name of what it should see. A name that
 * ends in a question mark is a question whose right answer no one knows. A check returns what it
 * saw, and throws when that is wrong.
 */
export type Checks = Record<string, (context: CheckContext) => Promise<string>>;

/** Runs the checks. When one ends or is interrupted, undoes its changes, the last one first. */
export async function* runChecks(
  checks: Checks,
  context: CheckContext,
): AsyncGenerator<Line, void, void> {
  const stopped = once(context.interrupted, "abort").then(() =>
    Promise.reject(new Error("interrupted")),
  );
  for (const [name, run] of Object.entries(checks)) {
    const outcome = await Promise.race([run(context), stopped]).then(
      (saw): Line => ({ kind: "pass", text: saw }),
      (error: unknown): Line => ({ kind: "FAIL", text: reason(error) }),
    );
    const kind = name.endsWith("?") ? "seen" : outcome.kind;
    yield { kind, text: `${name}: ${outcome.text}` };
    for (const { what, undo } of context.changes.splice(0).reverse()) {
      const problem = await undo().then(() => undefined, reason);
      if (problem !== undefined)
        yield { kind: "FAIL", text: `could not put back ${what}: ${problem}` };
    }
    if (context.interrupted.aborted) return;
  }
}

/**
 * The physical ids of the stack's resources of a type whose logical ids begin with `start`.
 *
 * @throws AssertionError when there is none.
 */
export function idsOf(
  { resources }: CheckContext,
  type: string,
  start = "",
): [string, ...string[]] {
  const [first, ...others] = resources
    .filter(
      ({ ResourceType, LogicalResourceId }) =>
        ResourceType === type && LogicalResourceId?.startsWith(start),
    )
    .map(({ PhysicalResourceId = "" }) => PhysicalResourceId);
  assert(first, `the stack has no ${type} ${start}`);
  return [first, ...others];
}

/**
 * Makes a change that is undone after the check. So is one that fails, as it may have been made all
 * the same.
 */
export async function change(
  context: CheckContext,
  what: string,
  make: () => Promise<unknown>,
  undo: () => Promise<unknown>,
): Promise<void> {
  context.interrupted.throwIfAborted();
  const made = make();
  // Undone only once it is made: otherwise the change itself could come last.
  context.changes.push({ what, undo: () => made.then(undo, undo) });
  await made;
}

/**
 * Calls `look` every five seconds, for five minutes, until it doesn't throw.
 *
 * @returns its result.
 * @throws its last error.
 */
export async function eventually<Found>(
  { clock }: CheckContext,
  look: () => Promise<Found>,
): Promise<Found> {
  for (const end = clock.now() + 300_000; ; await clock.pause(5000)) {
    try {
      return await look();
    } catch (error) {
      if (clock.now() >= end) throw error;
    }
  }
}
