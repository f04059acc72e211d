import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeLines } from "../../infra/admin/export-orders.ts";

test("an export to a pipe that fails midway leaves the pipe", async () => {
  const folder = await mkdtemp(join(tmpdir(), "export-pipe-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const lines = (async function* () {
    yield "{}\n";
    throw new Error("The table is gone");
  })();
  const { signal } = new AbortController();
  const [written] = await Promise.allSettled([writeLines(pipe, lines, signal), readFile(pipe)]);
  expect(written).toMatchObject({ reason: { message: "The table is gone" } });
  expect((await stat(pipe)).isFIFO()).toBe(true);
});
