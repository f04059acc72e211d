import { globSync, watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** The sources of a deployment, relative to this file: folders, and files of `infra/`. */
const folders = ["../../functions", "../../shared", "../stack"];
const files = ["app.ts", "environments.ts"];
/** How long to wait for more: editors and `git checkout` change several files, or one in several steps. */
const settleMs = 100;

/**
 * Calls `rebuild` whenever the sources change: never twice at once, and once more for changes made meanwhile.
 *
 * @returns resolves when the signal aborts and no rebuild is under way.
 */
export async function watchSources(rebuild: () => Promise<void>, signal: AbortSignal): Promise<void> {
  let changed = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => changed.resolve(), { once: true });
  // Each folder by itself: on Linux, a recursive watch loses a file for good once an editor has replaced it.
  for (const cwd of folders.map(absolute)) {
    for (const name of globSync("**/", { cwd })) watch(join(cwd, name), { signal }, () => changed.resolve());
  }
  // The folder, because editors replace files.
  watch(absolute(".."), { signal }, (_event, name) => {
    if (name !== null && files.includes(name)) changed.resolve();
  });
  while (!signal.aborted) {
    await changed.promise;
    if (signal.aborted) return;
    await wait(settleMs);
    changed = Promise.withResolvers();
    await rebuild();
  }
}

function absolute(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
