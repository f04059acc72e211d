import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { addToStackFile, readStackFile } from "../../infra/local/stack-file.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "stack-file-test-"));
  vi.stubEnv("LOCAL_STACK_FILE", join(directory, "stack.json"));
});
afterEach(() => rm(directory, { recursive: true }));

const stackAt = (port: number) => ({
  baseUrl: `http://localhost:${port}/v1`,
  dynamodbEndpoint: "http://127.0.0.1:8000",
  accessKeyId: "local",
  tables: { orders: "orders", apiKeys: "keys" },
});

test("running stacks are listed, the latest first", async () => {
  for (const port of [1, 2, 3]) await addToStackFile(stackAt(port));
  expect(await readStackFile()).toEqual([stackAt(3), stackAt(2), stackAt(1)]);
});

test("a stack that has ended is no longer listed", async () => {
  const removeFirst = await addToStackFile(stackAt(1));
  const removeSecond = await addToStackFile(stackAt(2));
  const removeThird = await addToStackFile(stackAt(3));
  await removeSecond();
  expect(await readStackFile()).toEqual([stackAt(3), stackAt(1)]);
  await removeThird();
  await removeFirst();
  expect(await readStackFile()).toEqual([]);
});

test("a stack replaces a killed one at the same address", async () => {
  await addToStackFile(stackAt(1));
  const replacing = { ...stackAt(1), dynamodbEndpoint: "http://127.0.0.1:8001" };
  await addToStackFile(replacing);
  expect(await readStackFile()).toEqual([replacing]);
});

test("a malformed file names no stack", async () => {
  await writeFile(join(directory, "stack.json"), '{"baseUrl":');
  expect(await readStackFile()).toEqual([]);
});

test("a file that can't be written is named in one line", async () => {
  const file = join(directory, "stack.json/beneath a file");
  await writeFile(join(directory, "stack.json"), "");
  vi.stubEnv("LOCAL_STACK_FILE", file);
  await expect(addToStackFile(stackAt(1))).rejects.toMatchObject({
    name: "CommandError",
    message: expect.stringMatching(/^.*\/beneath a file can't be written: E.*$/),
  });
});
