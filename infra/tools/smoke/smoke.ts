import { systemClock } from "../../../shared/clock.ts";
import { confirm } from "../terminal/input.ts";
import { readinessChecks, smokeChecks } from "./checks.ts";
import { type Endpoint, NoResponse, NotReady, reason, Warning } from "./client.ts";
import type { SmokeOptions } from "./options.ts";

/** A line about a check: its name and, unless it just passed, what it saw. */
interface Line {
  kind: "pass" | "FAIL" | "warning" | "waiting";
  text: string;
}

/**
 * Checks a deployed service, one check after the other. A new stage gets time first: its routes and
 * permissions reach the gateway up to a minute after the deployment is done. Where nothing responds
 * at all, the first check is the last.
 *
 * @param cancel a pending order to cancel. Without one, nothing changes.
 * @param thorough also cancels it twenty times at once, and adds the checks that take minutes and
 * thousands of requests.
 * @param waitSeconds how long the stage may take to become ready.
 */
export async function* smoke(
  {
    cancel,
    thorough = false,
    waitSeconds = 0,
    ...service
  }: Endpoint & { cancel?: string | undefined; thorough?: boolean; waitSeconds?: number },
  clock = systemClock,
): AsyncGenerator<Line, void, void> {
  const deadline = clock.now() + waitSeconds * 1000;
  let isAnnounced = false;
  const checks = Object.entries(smokeChecks(cancel, thorough));
  for (const [index, [name, check]] of checks.entries()) {
    const run = () => check(service, clock).catch((error: unknown) => error);
    let error = await run();
    while (
      index < readinessChecks &&
      error instanceof NotReady &&
      clock.now() < deadline
    ) {
      const text = `up to ${waitSeconds} s for the stage to be ready. ${name}: ${reason(error)}`;
      if (!isAnnounced) yield { kind: "waiting", text };
      isAnnounced = true;
      await clock.pause(Math.min(2000, deadline - clock.now()));
      error = await run();
    }
    yield lineOf(name, error);
    if (index === 0 && error instanceof NoResponse) return;
  }
}

function lineOf(name: string, error: unknown): Line {
  if (error === undefined) return { kind: "pass", text: name };
  const kind = error instanceof Warning ? "warning" : "FAIL";
  return { kind, text: `${name}: ${reason(error)}` };
}

/** Prints each line, then how many checks passed and failed. The exit code is 1 when one failed. */
export async function runSmoke({ asks, ...options }: SmokeOptions) {
  console.log(`Smoke test of ${options.baseUrl}`);
  const warning =
    "This sends thousands of requests: for minutes, other clients may get 429.";
  if (asks && !(await confirm(warning))) {
    process.exitCode = 2;
    return;
  }
  const count = { pass: 0, FAIL: 0, warning: 0, waiting: 0 };
  for await (const { kind, text } of smoke(options)) {
    count[kind] += 1;
    console.log(`${kind.padEnd(9)}${text}`);
  }
  console.log(`${count.pass} passed, ${count.FAIL} failed`);
  process.exitCode = Math.min(count.FAIL, 1);
}
