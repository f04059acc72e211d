import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../shared/clock.ts";

const project = join(import.meta.dirname, "../../..");

/** The sources of the local stack. */
const sources = "{functions,shared,infra/stack,infra/environments.ts}/**";

/** How often to look. Looking takes 1 ms. */
const pollMs = 200;

/**
 * Calls `rebuild` whenever the sources change, and logs how that went: never twice at once, and
 * once more for changes made meanwhile. It looks at every file, because the system can notify of
 * only so many, and of none in a folder that was deleted and is back.
 *
 * @param folder the project's.
 * @returns a promise that resolves when the signal has aborted and no rebuild is under way.
 */
export async function watchSources(
  rebuild: () => Promise<unknown>,
  signal: AbortSignal,
  log: (line: string) => void,
  folder = project,
  { now, pause } = systemClock,
) {
  let built = readSources(folder);
  let before = built;
  while (!signal.aborted) {
    await pause(pollMs, signal).catch(() => {});
    const current = readSources(folder);
    // Editors and `git checkout` change several files, or one in several steps.
    const isSettled = current === before;
    before = current;
    if (current === built || !isSettled || signal.aborted) continue;
    built = current;
    const begun = now();
    const outcome = await rebuild().then(
      () => `Rebuilt in ${((now() - begun) / 1000).toFixed(1)} s.`,
      ({ message }: Error) => `The last good build still serves. ${message}`,
    );
    if (!signal.aborted) log(outcome);
  }
}

/** A line for each source, which differs once that has changed. */
function readSources(folder: string) {
  const lines = globSync(sources, { cwd: folder }).map((name) => {
    try {
      const { ctimeMs, size } = statSync(join(folder, name));
      return `${name} ${ctimeMs} ${size}`;
    } catch {
      // It is gone by now, or a link to itself. Whether that matters, the build says.
      return name;
    }
  });
  return lines.join("\n");
}
