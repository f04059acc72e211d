import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { descendants } from "../helpers/processes.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "local-stack-"));
});
afterAll(() => rm(folder, { recursive: true }));

test("a start that fails while its engine is starting leaves no engine behind", async () => {
  const db = join(folder, "orders.db");
  const failing = () => Promise.reject(new Error("no build"));
  await expect(startLocalStack(failing, { port: 0, db })).rejects.toThrow("no build");
  // The engine made it, so it has started.
  await expect.poll(() => access(db).then(() => true)).toBe(true);
  expect(await descendants(process.pid, db)).toEqual([]);
});
