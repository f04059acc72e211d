import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockDb } from "../../infra/local/engine/db-lock.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "db-lock-"));
  file = join(folder, "orders.db");
});
afterEach(() => rm(folder, { recursive: true }));

test("a file belongs to one stack, which the second is told", async () => {
  await lockDb(file, "http://localhost:3000");
  await expect(lockDb(file, "http://localhost:3001")).rejects.toMatchObject({
    name: "StartError",
    message: `${file} is in use by the stack at http://localhost:3000, process ${process.pid}`,
  });
});

test("a file is free again when its stack has ended", async () => {
  const release = await lockDb(file, "http://localhost:3000");
  await release();
  await expect(lockDb(file, "http://localhost:3001")).resolves.toBeTypeOf("function");
});

test("the file of a stack that was killed is taken over", async () => {
  const ended = spawn("true");
  await once(ended, "exit");
  const owner = { pid: ended.pid, stack: "http://localhost:3000" };
  await writeFile(`${file}.lock`, JSON.stringify(owner));
  const release = await lockDb(file, "http://localhost:3001");
  await release();
  expect(await readdir(folder)).toEqual([]);
});

test("a lock that says nothing is taken over", async () => {
  await writeFile(`${file}.lock`, "");
  await expect(lockDb(file, "http://localhost:3001")).resolves.toBeTypeOf("function");
});
