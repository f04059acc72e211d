import { AssertionError } from "node:assert/strict";
import { systemClock } from "../../shared/clock.ts";
import { reason, type Service } from "./client.ts";
import { promises } from "./promises.ts";

/** One line of the report: a promise, and for a broken one or one that is waited for, what was seen. */
export interface Line {
  kind: "kept" | "broken" | "waiting";
  text: string;
}

export interface SmokeOptions extends Service {
  /** A pending order to cancel. Without one, nothing changes. */
  cancel?: string | undefined;
  /** How long a stage may take to become ready; 0 by default. */
  waitSeconds?: number;
}

/**
 * Checks every promise of a deployed service, one after the other. A new stage gets time first: its
 * routes and permissions reach the gateway up to a minute after the deployment is done.
 */
export async function* smoke(
  { cancel, waitSeconds = 0, ...service }: SmokeOptions,
  clock = systemClock,
): AsyncGenerator<Line, void, void> {
  const deadline = clock.now() + waitSeconds * 1000;
  let waiting = false;
  for (const { promise, needsReadyStage = false, keep } of promises(service, cancel)) {
    for (;;) {
      try {
        await keep();
        yield { kind: "kept", text: promise };
        break;
      } catch (error) {
        const text = `${promise}: ${reason(error)}`;
        if (error instanceof AssertionError || !needsReadyStage || clock.now() >= deadline) {
          yield { kind: "broken", text };
          break;
        }
        if (!waiting) yield { kind: "waiting", text };
        waiting = true;
        await clock.pause(Math.min(2000, deadline - clock.now()));
      }
    }
  }
}
