import { chmod, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { writeLines } from "../../infra/admin/export-orders.ts";
import { createOperator } from "./admin-process.ts";

const operator = await createOperator();

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test("an export that replaces a private file is private while it is written", async () => {
  const path = join(operator.folder, "private.ndjson");
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

describe("an export to a symbolic link", () => {
  const link = join(operator.folder, "link.ndjson");
  const behind = join(operator.folder, "behind.ndjson");
  beforeEach(async () => {
    await rm(link, { force: true });
    await writeFile(behind, "the last export\n");
    await chmod(behind, 0o666);
    await symlink(behind, link);
    await writeLines(link, async function* () {});
  });

  test("replaces the file behind it", async () => {
    expect(await readFile(behind, "utf8")).toBe("");
  });

  test("leaves the link", async () => {
    expect(await readlink(link)).toBe(behind);
  });

  test("keeps the mode of the file", async () => {
    expect(await modeOf(behind)).toBe(0o666);
  });
});

test("an export is written under a name of its process alone", async () => {
  const path = join(operator.folder, "named.ndjson");
  const isFile = async () => (await stat(`${path}.${process.pid}.partial`)).isFile();
  const seen: boolean[] = [];
  await writeLines(path, async function* () {
    yield "{}\n";
    seen.push(await vi.waitFor(isFile));
  });
  expect(seen).toEqual([true]);
});

test("an export never writes through what is already beside its file", async () => {
  const path = join(operator.folder, "mine.ndjson");
  const other = join(operator.folder, "others");
  await writeFile(other, "theirs");
  await symlink(other, `${path}.${process.pid}.partial`);
  await expect(writeLines(path, async function* () {})).rejects.toThrow(
    "mine.ndjson: file already exists",
  );
  expect(await readFile(other, "utf8")).toBe("theirs");
});
