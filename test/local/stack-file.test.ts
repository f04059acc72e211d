import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, test, vi } from "vitest";
import { addToStackFile, readStackFile } from "../../infra/local/stack-file.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

let file: string;
beforeEach(async () => {
  const { path, remove } = await temporaryFolder();
  file = join(path, "stack.json");
  vi.stubEnv("LOCAL_STACK_FILE", file);
  return remove;
});

const stackAt = (port: number) => ({
  baseUrl: `http://localhost:${port}/v1`,
  dynamodbEndpoint: "http://127.0.0.1:8000",
  accessKeyId: "local",
  tables: { orders: "orders", apiKeys: "keys" },
});

test("running stacks are listed for their user, the latest first, until they end", () => {
  const [, removeSecond] = [1, 2, 3].map((port) => addToStackFile(stackAt(port)));
  // In place of one that was killed.
  const replacing = { ...stackAt(1), dynamodbEndpoint: "http://127.0.0.1:8001" };
  addToStackFile(replacing);
  expect(readStackFile()).toEqual([replacing, stackAt(3), stackAt(2)]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  removeSecond?.();
  expect(readStackFile()).toEqual([replacing, stackAt(3)]);
});

test("a malformed file names no stack", async () => {
  await writeFile(file, '{"baseUrl":');
  expect(readStackFile()).toEqual([]);
});

test("a file that can't be written is named in one line", async () => {
  await writeFile(file, "");
  vi.stubEnv("LOCAL_STACK_FILE", `${file}/beneath a file`);
  expect(() => addToStackFile(stackAt(1))).toThrow(
    /^.*\/beneath a file can't be written: E.*\. Set LOCAL_STACK_FILE to another$/,
  );
});

test("stacks that start at the same moment are all listed", async () => {
  const module = new URL("../../infra/local/stack-file.ts", import.meta.url);
  const starts = [1, 2, 3].map((first) => {
    const stacks = Array.from({ length: 30 }, (_, index) => stackAt(100 * first + index));
    const code = `import { addToStackFile } from "${module}";
      for (const stack of ${JSON.stringify(stacks)}) addToStackFile(stack);`;
    return promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code]);
  });
  await Promise.all(starts);
  expect(readStackFile()).toHaveLength(90);
});
