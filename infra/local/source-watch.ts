import { watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** The sources of a deployment, relative to this file: folders, and files of `infra/`. */
const folders = ["../../functions", "../../shared", "../stack"];
const files = ["app.ts", "environments.ts"];
/**
 * How long to wait for further changes: editors and `git checkout` change several files, or one in
 * several steps.
 */
const settleMs = 100;

/**
 * Calls `rebuild` whenever the sources change: never twice at once, and once more for changes made
 * meanwhile.
 *
 * @returns a promise that resolves when the signal has aborted and no rebuild is under way.
 */
export async function watchSources(
  rebuild: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let first = true; !signal.aborted; first = false) {
    // New watchers each time, because folders come and go; before the rebuild, so that no change is
    // missed.
    const watching = new AbortController();
    const changed = nextChange(AbortSignal.any([signal, watching.signal]));
    if (!first) await rebuild();
    await changed;
    if (!signal.aborted) await wait(settleMs);
    watching.abort();
  }
}

/** Resolves when a source changes or the signal aborts. */
function nextChange(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  for (const folder of folders) {
    const path = join(import.meta.dirname, folder);
    const watcher = watch(path, { recursive: true, signal }, () => resolve());
    // A folder that disappears while it is read is a change too.
    watcher.on("error", () => resolve());
  }
  // The folder, because editors replace files.
  watch(join(import.meta.dirname, ".."), { signal }, (_event, name) => {
    if (name !== null && files.includes(name)) resolve();
  });
  return promise;
}
