import { chmod, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { writeLines } from "../../infra/admin/export-orders.ts";
import { createOperator } from "./admin-process.ts";

const operator = await createOperator();

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

/** Where an export of this process writes until it is complete. */
const partialOf = (path: string) => `${path}.${process.pid}.partial`;

const noLines = async function* () {};

test("an export keeps a private file private, even while it writes", async () => {
  const path = join(operator.folder, "private.ndjson");
  await writeFile(path, "");
  await chmod(path, 0o600);
  const modes: number[] = [];
  const lines = async function* () {
    // The partial file is opened for the first line.
    yield "{}\n";
    modes.push(await vi.waitFor(() => modeOf(partialOf(path))));
  };
  await writeLines(path, lines);
  expect(modes).toEqual([0o600]);
  expect(await modeOf(path)).toBe(0o600);
});

describe("an export to a symbolic link", () => {
  const link = join(operator.folder, "link.ndjson");
  const target = join(operator.folder, "target.ndjson");
  const exportToLink = async () => {
    await rm(link, { force: true });
    await writeFile(target, "the last export\n");
    await chmod(target, 0o666);
    await symlink(target, link);
    await writeLines(link, noLines);
  };

  test("replaces the file that it points to", async () => {
    await exportToLink();
    expect(await readFile(target, "utf8")).toBe("");
  });

  test("leaves the link in place", async () => {
    await exportToLink();
    expect(await readlink(link)).toBe(target);
  });

  test("keeps the mode of the file", async () => {
    await exportToLink();
    expect(await modeOf(target)).toBe(0o666);
  });
});

test("an export writes to a partial file named after its process first", async () => {
  const path = join(operator.folder, "named.ndjson");
  let hasPartial = false;
  await writeLines(path, async function* () {
    yield "{}\n";
    const partial = await vi.waitFor(() => stat(partialOf(path)));
    hasPartial = partial.isFile();
  });
  expect(hasPartial).toBe(true);
});

test("an export never follows a link that has its partial file's name", async () => {
  const path = join(operator.folder, "mine.ndjson");
  const target = join(operator.folder, "someone-elses.txt");
  await writeFile(target, "theirs");
  await symlink(target, partialOf(path));
  await expect(writeLines(path, noLines)).rejects.toThrow("mine.ndjson: file already exists");
  expect(await readFile(target, "utf8")).toBe("theirs");
});
