import assert from "node:assert/strict";
import { once } from "node:events";
import type { StackResourceSummary } from "@aws-sdk/client-cloudformation";
import type { Clock } from "../../shared/clock.ts";
import type { Target } from "../admin/target.ts";
import { type Endpoint, reason } from "../smoke/client.ts";
import type { Line } from "../smoke/smoke-test.ts";

/** A deployed environment, and what has been changed in it for a while. */
export interface Stage extends Endpoint, Target {
  /** The resources of the stack. A logical id begins with the id of its construct. */
  resources: StackResourceSummary[];
  /** The working copy to deploy. */
  root: string;
  /** An environment that may lend its alarms. */
  lender: string | undefined;
  clock: Clock;
  /** Once it is aborted, nothing more is changed. */
  interrupted: AbortSignal;
  changes: { what: string; undo: () => Promise<unknown> }[];
}

/**
 * Checks of what only AWS itself can show, each under the name of what it should see. A name that
 * ends in a question mark is a question whose right answer no one knows. A check returns what it
 * saw, and throws when that is wrong.
 */
export type Checks = Record<string, (stage: Stage) => Promise<string>>;

/**
 * Runs the checks, and puts back what each has changed, in the reverse order, when it has run or is
 * interrupted.
 */
export async function* runChecks(checks: Checks, stage: Stage): AsyncGenerator<Line, void, void> {
  const stopped = once(stage.interrupted, "abort").then(() =>
    Promise.reject(new Error("interrupted")),
  );
  for (const [name, run] of Object.entries(checks)) {
    const [right, wrong] = name.endsWith("?")
      ? (["seen", "seen"] as const)
      : (["pass", "FAIL"] as const);
    yield await Promise.race([run(stage), stopped]).then(
      (saw): Line => ({ kind: right, text: `${name}: ${saw}` }),
      (error: unknown): Line => ({ kind: wrong, text: `${name}: ${reason(error)}` }),
    );
    for (const { what, undo } of stage.changes.splice(0).reverse()) {
      const problem = await undo().then(() => undefined, reason);
      if (problem !== undefined)
        yield { kind: "FAIL", text: `could not put back ${what}: ${problem}` };
    }
    if (stage.interrupted.aborted) return;
  }
}

/**
 * The physical ids of the resources of a type, by how their logical ids begin. @throws
 * AssertionError without any.
 */
export function idsOf({ resources }: Stage, type: string, start = ""): [string, ...string[]] {
  const [first, ...others] = resources
    .filter(
      ({ ResourceType, LogicalResourceId }) =>
        ResourceType === type && LogicalResourceId?.startsWith(start),
    )
    .map(({ PhysicalResourceId = "" }) => PhysicalResourceId);
  assert(first, `the stack has no ${type} ${start}`);
  return [first, ...others];
}

/** Makes a change. It may fail and be made all the same, so it is undone whatever becomes of it. */
export async function change(
  stage: Stage,
  what: string,
  make: () => Promise<unknown>,
  undo: () => Promise<unknown>,
) {
  stage.interrupted.throwIfAborted();
  const made = make();
  // Not while it is being made: that could come last.
  stage.changes.push({ what, undo: () => made.then(undo, undo) });
  await made;
}

/**
 * Looks every five seconds, for five minutes, until it does not throw. @throws what it threw last.
 */
export async function eventually<Found>(
  { clock }: Stage,
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
