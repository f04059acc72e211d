import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
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
  for (const port of [1, 2, 3]) addToStackFile(stackAt(port));
  expect(readStackFile()).toEqual([stackAt(3), stackAt(2), stackAt(1)]);
});

test("a stack that has ended is no longer listed", async () => {
  const removeFirst = addToStackFile(stackAt(1));
  const removeSecond = addToStackFile(stackAt(2));
  const removeThird = addToStackFile(stackAt(3));
  removeSecond();
  expect(readStackFile()).toEqual([stackAt(3), stackAt(1)]);
  removeThird();
  removeFirst();
  expect(readStackFile()).toEqual([]);
});

test("a stack replaces a killed one at the same address", async () => {
  addToStackFile(stackAt(1));
  const replacing = { ...stackAt(1), dynamodbEndpoint: "http://127.0.0.1:8001" };
  addToStackFile(replacing);
  expect(readStackFile()).toEqual([replacing]);
});

test("a malformed file names no stack", async () => {
  await writeFile(join(directory, "stack.json"), '{"baseUrl":');
  expect(readStackFile()).toEqual([]);
});

test("a file that can't be written is named in one line", async () => {
  const file = join(directory, "stack.json/beneath a file");
  await writeFile(join(directory, "stack.json"), "");
  vi.stubEnv("LOCAL_STACK_FILE", file);
  expect(() => addToStackFile(stackAt(1))).toThrow(
    expect.objectContaining({
      name: "CommandError",
      message: expect.stringMatching(
        /^.*\/beneath a file can't be written: E.*\. LOCAL_STACK_FILE names another$/,
      ),
    }),
  );
});

test("stacks that start at the same moment are all listed", async () => {
  const module = new URL("../../infra/local/stack-file.ts", import.meta.url);
  const ports = [1, 2, 3, 4, 5, 6, 7, 8];
  const starts = ports.map((port) => {
    const code = `import { addToStackFile } from "${module}";
      addToStackFile(${JSON.stringify(stackAt(port))});`;
    return promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code]);
  });
  await Promise.all(starts);
  const listed = readStackFile().map(({ baseUrl }) => baseUrl);
  expect(listed.sort()).toEqual(ports.map((port) => stackAt(port).baseUrl));
});
