import { AssertionError } from "node:assert/strict";
import { systemClock } from "../../shared/clock.ts";
import { smokeChecks } from "./checks.ts";
import { type Endpoint, reason } from "./client.ts";
import type { Line } from "./report.ts";

export interface SmokeOptions extends Endpoint {
  /** A pending order to cancel. Without one, nothing changes. */
  cancel?: string | undefined;
  /** How long a stage may take to become ready; 0 by default. */
  waitSeconds?: number;
}

/**
 * Checks a deployed service, one check after the other. A new stage gets time first: its routes and permissions reach
 * the gateway up to a minute after the deployment is done.
 */
export async function* smoke(
  { cancel, waitSeconds = 0, ...service }: SmokeOptions,
  clock = systemClock,
): AsyncGenerator<Line, void, void> {
  const deadline = clock.now() + waitSeconds * 1000;
  let waiting = false;
  for (const { name, needsReadyStage = false, run } of smokeChecks(service, cancel)) {
    for (;;) {
      try {
        await run();
        yield { kind: "pass", text: name };
        break;
      } catch (error) {
        const text = `${name}: ${reason(error)}`;
        if (error instanceof AssertionError || !needsReadyStage || clock.now() >= deadline) {
          yield { kind: "FAIL", text };
          break;
        }
        if (!waiting) yield { kind: "waiting", text: `up to ${waitSeconds} s for the stage to be ready. ${text}` };
        waiting = true;
        await clock.pause(Math.min(2000, deadline - clock.now()));
      }
    }
  }
}
