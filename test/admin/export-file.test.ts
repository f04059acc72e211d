import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { writeLines } from "../../infra/admin/export-orders.ts";
import { machineHas } from "../helpers/machine.ts";

const folder = await mkdtemp(join(tmpdir(), "export-file-"));
afterAll(() => rm(folder, { recursive: true }));
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test("an export to a pipe that fails midway leaves the pipe", async () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const lines = async function* () {
    yield "{}\n";
    throw new Error("The table is gone");
  };
  const [written] = await Promise.allSettled([writeLines(pipe, lines), readFile(pipe)]);
  expect(written).toMatchObject({ reason: { message: "The table is gone" } });
  expect((await stat(pipe)).isFIFO()).toBe(true);
});

test("an export that replaces a private file is private while it is written", async () => {
  const path = join(folder, "private.ndjson");
  await writeFile(path, "");
  await chmod(path, 0o600);
  const modes: number[] = [];
  const lines = async function* () {
    yield "{}\n";
    modes.push(await vi.waitFor(() => modeOf(`${path}.${process.pid}.partial`)));
  };
  await writeLines(path, lines);
  expect([...modes, await modeOf(path)]).toEqual([0o600, 0o600]);
});

test("an export to a symbolic link replaces the file behind it, which keeps its mode", async () => {
  const [path, link] = [join(folder, "behind.ndjson"), join(folder, "link.ndjson")];
  await writeFile(path, "the last export\n");
  await chmod(path, 0o666);
  await symlink(path, link);
  await writeLines(link, async function* () {});
  expect([await readFile(path, "utf8"), await readlink(link), await modeOf(path)]).toEqual(["", path, 0o666]);
});

test("an export never writes through what is already beside its file", async () => {
  const [path, other] = [join(folder, "mine.ndjson"), join(folder, "others")];
  await writeFile(other, "theirs");
  await symlink(other, `${path}.${process.pid}.partial`);
  await expect(writeLines(path, async function* () {})).rejects.toThrow("mine.ndjson: file already exists");
  expect(await readFile(other, "utf8")).toBe("theirs");
});

test("an export to a new file gives it the mode that the umask leaves", async () => {
  const path = join(folder, "new.ndjson");
  await writeFile(join(folder, "other"), "");
  await writeLines(path, async function* () {});
  expect(await modeOf(path)).toBe(await modeOf(join(folder, "other")));
});

test.runIf(machineHas("/dev/full", "an export to a full device"))("an export names a full device", async () => {
  const lines = async function* () {
    yield "{}\n";
  };
  await expect(writeLines("/dev/full", lines)).rejects.toThrow("/dev/full: no space left on device");
});
