import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { addToStackFile, readStackFile } from "../../infra/local/stack-file.ts";

const directory = await mkdtemp(join(tmpdir(), "stack-file-test-"));
afterAll(() => rm(directory, { recursive: true }));

beforeEach(() => void vi.stubEnv("LOCAL_STACK_FILE", join(directory, "stack.json")));

const stackAt = (port: number) => ({
  baseUrl: `http://localhost:${port}/v1`,
  dynamodbEndpoint: "http://127.0.0.1:8000",
  accessKeyId: "local",
  tables: { orders: "orders", apiKeys: "keys" },
});

test("the stacks that run are found, the one that started last first", async () => {
  const removeFirst = await addToStackFile(stackAt(1));
  const removeSecond = await addToStackFile(stackAt(2));
  const removeThird = await addToStackFile(stackAt(3));
  expect(await readStackFile()).toEqual([stackAt(3), stackAt(2), stackAt(1)]);
  await removeSecond();
  expect(await readStackFile()).toEqual([stackAt(3), stackAt(1)]);
  await removeThird();
  await removeFirst();
  expect(await readStackFile()).toEqual([]);
});

test("a stack takes the place of a killed one at its address", async () => {
  await addToStackFile(stackAt(1));
  const remove = await addToStackFile({ ...stackAt(1), dynamodbEndpoint: "http://127.0.0.1:8001" });
  expect(await readStackFile()).toEqual([
    { ...stackAt(1), dynamodbEndpoint: "http://127.0.0.1:8001" },
  ]);
  await remove();
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
    name: "StartError",
    message: expect.stringMatching(/^.*\/beneath a file can't be written: E.*$/),
  });
});
