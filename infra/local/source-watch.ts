import { watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const project = join(import.meta.dirname, "../..");

/** The sources of a deployment: whole folders, and by their parent's names, which may come back. */
const folders = ["functions", "shared", "infra/stack"];
const names = { ".": ["functions", "shared"], infra: ["stack", "app.ts", "environments.ts"] };
/**
 * How long to wait for further changes: editors and `git checkout` change several files, or one in
 * several steps.
 */
const settleMs = 100;

/**
 * Calls `rebuild` whenever the sources change: never twice at once, and once more for changes made
 * meanwhile. When they can't be watched any more, it says so once, and ends.
 *
 * @returns a promise that resolves when the signal has aborted and no rebuild is under way.
 */
export async function watchSources(
  rebuild: () => Promise<void>,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<void> {
  for (let first = true; !signal.aborted; first = false) {
    // New watchers each time, because folders come and go; before the rebuild, so that no change is
    // missed.
    const watching = new AbortController();
    const changed = nextChange(AbortSignal.any([signal, watching.signal]));
    if (!first) await rebuild();
    const failure = await changed;
    if (failure === undefined && !signal.aborted) await wait(settleMs);
    watching.abort();
    if (failure !== undefined)
      return log(`Changes are no longer served: ${failure}. To watch the sources, start again.`);
  }
}

/** Resolves when a source changes or the signal aborts, or with the reason why none can be seen. */
function nextChange(signal: AbortSignal): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  signal.addEventListener("abort", () => resolve(undefined), { once: true });
  const failed = (error: unknown) => {
    const { code, message } = Object(error);
    // A folder that disappears, or comes back, is a change of its parent.
    if (code !== "ENOENT") resolve(message);
  };
  const watchFor = (folder: string, recursive: boolean, isSource: (name: string) => boolean) => {
    try {
      watch(join(project, folder), { recursive, signal }, (_event, name) => {
        if (isSource(`${name}`)) resolve(undefined);
      }).on("error", failed);
    } catch (error) {
      failed(error);
    }
  };
  for (const [parent, sources] of Object.entries(names))
    watchFor(parent, false, (name) => sources.includes(name));
  for (const folder of folders) watchFor(folder, true, () => true);
  return promise;
}
