import { appendFile, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";

type SourceWatch = typeof import("../../infra/local/source-watch.ts");

const directory = await mkdtemp(join(tmpdir(), "source-watch-test-"));
afterAll(() => rm(directory, { recursive: true }));

const sources = ["functions/one.ts", "shared/one.ts", "infra/stack/one.ts", "infra/app.ts", "infra/environments.ts"];
for (const name of sources) {
  await mkdir(dirname(join(directory, name)), { recursive: true });
  await writeFile(join(directory, name), "");
}
// It watches what is beside it.
const copy = join(directory, "infra/local/source-watch.ts");
await cp(fileURLToPath(new URL("../../infra/local/source-watch.ts", import.meta.url)), copy);
const { watchSources }: SourceWatch = await import(copy);

function watched() {
  const ended = new AbortController();
  const rebuild = vi.fn<() => Promise<void>>();
  const watching = watchSources(rebuild, ended.signal);
  onTestFinished(async () => {
    ended.abort();
    await watching;
  });
  return rebuild;
}

test.each(sources)("a change of %s rebuilds", async (name) => {
  const rebuild = watched();
  await appendFile(join(directory, name), "\n");
  await vi.waitFor(() => expect(rebuild).toHaveBeenCalled(), { timeout: 60_000 });
});

test("a change in a folder that is created later rebuilds, also when the folder is created anew", async () => {
  const rebuild = watched();
  for (const _ of ["first", "anew"]) {
    await mkdir(join(directory, "shared/new/deep"), { recursive: true });
    await vi.waitFor(() => expect(rebuild).toHaveBeenCalled(), { timeout: 60_000 });
    rebuild.mockClear();
    await writeFile(join(directory, "shared/new/deep/one.ts"), "");
    await vi.waitFor(() => expect(rebuild).toHaveBeenCalled(), { timeout: 60_000 });
    rebuild.mockClear();
    await rm(join(directory, "shared/new"), { recursive: true });
    await vi.waitFor(() => expect(rebuild).toHaveBeenCalled(), { timeout: 60_000 });
    rebuild.mockClear();
  }
});

test("a change during a rebuild rebuilds once more", async () => {
  const rebuild = watched();
  rebuild.mockImplementationOnce(() => appendFile(join(directory, "shared/one.ts"), "\n"));
  await appendFile(join(directory, "functions/one.ts"), "\n");
  await vi.waitFor(() => expect(rebuild).toHaveBeenCalledTimes(2), { timeout: 60_000 });
});

test("a rebuild leaves no more watchers than there were before", async () => {
  const watchers = () => process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap");
  await vi.waitFor(() => expect(watchers()).toEqual([]));
  const rebuild = watched();
  const before = watchers().length;
  expect(before).toBeGreaterThan(0);
  await appendFile(join(directory, "infra/app.ts"), "\n");
  await vi.waitFor(() => expect(rebuild).toHaveBeenCalled(), { timeout: 60_000 });
  await vi.waitFor(() => expect(watchers()).toHaveLength(before));
});
