import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { lockDatabase } from "../../../infra/local/machine/file-lock.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "file-lock-")));
  file = join(folder, "orders.db");
});
afterEach(() => rm(folder, { recursive: true }));

/** Locks the database until the test has ended. */
async function lock(): Promise<void> {
  onTestFinished(await lockDatabase(file));
}

test("of two stacks that start at once, one gets the database and the other says so", async () => {
  const starts = await Promise.allSettled([lockDatabase(file), lockDatabase(file)]);
  for (const start of starts) if (start.status === "fulfilled") onTestFinished(start.value);
  expect(starts.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(starts.find(({ status }) => status === "rejected")).toMatchObject({
    reason: {
      name: "CommandError",
      message: `${file} is in use by another stack. Stop that, or choose another file`,
    },
  });
});

test.each([
  ["a link to it", "link.db", () => symlink(file, join(folder, "link.db"))],
  ["a link to its folder", "linked/orders.db", () => symlink(folder, join(folder, "linked"))],
])("a database in use can't be locked by %s either", async (_, name, makeLink) => {
  if (name === "link.db") await writeFile(file, "");
  await makeLink();
  await lock();
  await expect(lockDatabase(join(folder, name))).rejects.toThrow(`${name} is in use`);
});

test("a database is free again when its stack has ended", async () => {
  (await lockDatabase(file))();
  await expect(lock()).resolves.toBeUndefined();
});

test("a database is free again when its stack has been killed", async () => {
  const module = new URL("../../../infra/local/machine/file-lock.ts", import.meta.url);
  const code = `import { lockDatabase } from "${module}"; await lockDatabase("${file}");
    console.log("locked"); setInterval(() => {}, 1000);`;
  const other = spawn(process.execPath, ["--input-type=module", "--eval", code]);
  await once(other.stdout, "data");
  await expect(lockDatabase(file)).rejects.toThrow("in use");
  other.kill("SIGKILL");
  await once(other, "exit");
  await lock();
});

test("a database whose lock can't be written is named", async () => {
  await mkdir(`${file}-lock`);
  await expect(lockDatabase(file)).rejects.toThrow(
    `${file}-lock can't be written: unable to open database file`,
  );
});
