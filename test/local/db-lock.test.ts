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

test("a file belongs to one stack, which the second is told", async () => {
  const stack = await runningStack();
  await lockDb(file, stack);
  await expect(lockDb(file, other)).rejects.toMatchObject({
    name: "StartError",
    message: `${file} is in use by the stack at ${stack}, process ${process.pid} (says ${file}.lock)`,
  });
});

test("a file in use is in use by any name", async () => {
  await lockDb(file, await runningStack());
  await writeFile(file, "");
  const link = join(folder, "link.db");
  await symlink(file, link);
  await expect(lockDb(link, other)).rejects.toThrow(`${link} is in use`);
});

test("a file is free again when its stack has ended", async () => {
  const release = await lockDb(file, await runningStack());
  await release();
  await expect(lockDb(file, other)).resolves.toBeTypeOf("function");
});

test("the file of a stack whose process has ended is taken over", async () => {
  const ended = spawn("true");
  await once(ended, "exit");
  const owner = { pid: ended.pid, stack: await runningStack() };
  await writeFile(`${file}.lock`, JSON.stringify(owner));
  const release = await lockDb(file, other);
  await release();
  expect(await readdir(folder)).toEqual([]);
});

test("the file of a stack whose address no longer responds is taken over", async () => {
  await lockDb(file, `http://localhost:${await freePort()}`);
  await expect(lockDb(file, other)).resolves.toBeTypeOf("function");
});

test("the file of a killed stack is taken over, even with its process id and port", async () => {
  const stack = await runningStack();
  await lockDb(file, stack);
  await expect(lockDb(file, stack)).resolves.toBeTypeOf("function");
});

test("a lock that says nothing is taken over", async () => {
  await writeFile(`${file}.lock`, "");
  await expect(lockDb(file, other)).resolves.toBeTypeOf("function");
});
