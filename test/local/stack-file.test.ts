import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test, vi } from "vitest";

const directory = await mkdtemp(join(tmpdir(), "stack-file-test-"));
afterAll(() => rm(directory, { recursive: true }));

let stackFile: typeof import("../../infra/local/stack-file.ts");
beforeEach(async () => {
  vi.stubEnv("LOCAL_STACK_FILE", join(directory, "stack.json"));
  vi.resetModules();
  stackFile = await import("../../infra/local/stack-file.ts");
});

const stackAt = (port: number) => ({
  baseUrl: `http://localhost:${port}/v1`,
  dynamodbEndpoint: "http://127.0.0.1:8000",
  tables: { orders: "orders", apiKeys: "keys" },
});

test("the stack that started last is found, also once an earlier one has ended", async () => {
  const { readStackFile, writeStackFile } = stackFile;
  const removeFirst = await writeStackFile(stackAt(1));
  const removeSecond = await writeStackFile(stackAt(2));
  await removeFirst();
  expect(await readStackFile()).toEqual(stackAt(2));
  await removeSecond();
  expect(await readStackFile()).toBeUndefined();
});
