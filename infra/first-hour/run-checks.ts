import { once } from "node:events";
import { reason } from "../smoke/client.ts";
import type { Line } from "../smoke/smoke.ts";
import type { Stage } from "./stage.ts";

/**
 * Checks that only AWS itself can answer, by what it should show. A name that ends in a question mark is a question to which no
 * one knows the right answer.
 *
 * @returns what was seen.
 * @throws Error when it should have been something else.
 */
export type Checks = Record<string, (stage: Stage) => Promise<string>>;

/** Runs the checks, and puts back what each has changed, in the reverse order, when it has run or is interrupted. */
export async function* runChecks(checks: Checks, stage: Stage): AsyncGenerator<Line, void, void> {
  const stopped = once(stage.interrupted, "abort").then(() => Promise.reject(new Error("interrupted")));
  for (const [name, run] of Object.entries(checks)) {
    const isQuestion = name.endsWith("?");
    try {
      const saw = await Promise.race([run(stage), stopped]);
      yield { kind: isQuestion ? "seen" : "pass", text: `${name}: ${saw}` };
    } catch (error) {
      yield { kind: isQuestion ? "seen" : "FAIL", text: `${name}: ${reason(error)}` };
    }
    for (const { what, undo } of stage.changes.splice(0).reverse()) {
      try {
        await undo();
      } catch (error) {
        yield { kind: "FAIL", text: `could not put back ${what}: ${reason(error)}` };
      }
    }
    if (stage.interrupted.aborted) return;
  }
}
