import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { lockDb } from "../../infra/local/engine/db-lock.ts";
import { freePort, listen } from "../../infra/local/machine/ports.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "db-lock-")));
  file = join(folder, "orders.db");
});
afterEach(() => rm(folder, { recursive: true }));

/** A stack that listens until the test has ended. */
async function runningStack(): Promise<string> {
  const { port, close } = await listen(0, () => {});
  onTestFinished(close);
  return `http://localhost:${port}`;
}

const other = "http://localhost:1";

test("a second stack is told which one is using the database", async () => {
  const stack = await runningStack();
  await lockDb(file, stack);
  await expect(lockDb(file, other)).rejects.toMatchObject({
    name: "CommandError",
    message: `${file} is in use by the stack at ${stack}, process ${process.pid} (says ${file}.lock)`,
  });
});

test("a database in use can't be locked through a symbolic link either", async () => {
  await lockDb(file, await runningStack());
  await writeFile(file, "");
  const link = join(folder, "link.db");
  await symlink(file, link);
  await expect(lockDb(link, other)).rejects.toThrow(`${link} is in use`);
});

test("a database is free again when its stack has ended", async () => {
  const release = await lockDb(file, await runningStack());
  await release();
  await expect(lockDb(file, other)).resolves.toBeTypeOf("function");
});

test("a database that is released has no lock file left", async () => {
  const release = await lockDb(file, other);
  expect(await readdir(folder)).toEqual(["orders.db.lock"]);
  await release();
  expect(await readdir(folder)).toEqual([]);
});

test("the database of a stack whose process has ended is taken over", async () => {
  const ended = spawn("true");
  await once(ended, "exit");
  const owner = { pid: ended.pid, stack: await runningStack() };
  await writeFile(`${file}.lock`, JSON.stringify(owner));
  await expect(lockDb(file, other)).resolves.toBeTypeOf("function");
});

test("the database of a stack that no longer responds is taken over", async () => {
  await lockDb(file, `http://localhost:${await freePort()}`);
  await expect(lockDb(file, other)).resolves.toBeTypeOf("function");
});

test("a stack with a killed one's process id and port takes over its database", async () => {
  const stack = await runningStack();
  await lockDb(file, stack);
  await expect(lockDb(file, stack)).resolves.toBeTypeOf("function");
});

test("an empty lock file is taken over", async () => {
  await writeFile(`${file}.lock`, "");
  await expect(lockDb(file, other)).resolves.toBeTypeOf("function");
});
