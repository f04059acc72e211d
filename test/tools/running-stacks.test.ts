import { statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import {
  prepareStacksFolder,
  readStackFiles,
  writeStackFile,
} from "../../infra/tools/running-stacks/stack-files.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

let folder: string;
beforeEach(async () => {
  const { path, remove } = await temporaryFolder();
  folder = join(path, "stacks");
  vi.stubEnv("LOCAL_STACKS", folder);
  return remove;
});

const stackAt = (port: number, startedAt: number) => ({
  startedAt,
  baseUrl: `http://localhost:${port}/v1`,
  dynamodbEndpoint: "http://127.0.0.1:8000",
  tables: { orders: "orders", apiKeys: "keys" },
});

test("running stacks are listed for their user, the latest first, until they end", async () => {
  expect(readStackFiles()).toEqual([]);
  const [first, second, third] = [stackAt(1, 1), stackAt(2, 3), stackAt(3, 2)];
  const [, removeSecond] = [first, second, third].map(writeStackFile);
  expect(readStackFiles()).toEqual([second, third, first]);
  // In place of one that was killed.
  const replacing = stackAt(1, 4);
  writeStackFile(replacing);
  // Someone may have deleted it.
  for (const _ of ["first", "again"]) removeSecond?.();
  await writeFile(join(folder, "malformed.json"), '{"baseUrl":');
  const incomplete = { ...third, tables: { orders: "orders" } };
  await writeFile(join(folder, "incomplete.json"), JSON.stringify(incomplete));
  expect(readStackFiles()).toEqual([replacing, third]);
  await writeFile(join(folder, "4.json.new"), JSON.stringify(third));
  expect(readStackFiles()).toEqual([replacing, third]);
  const taken = join(folder, "5.json");
  await mkdir(taken);
  const failed = `${taken} can't be written: EISDIR`;
  expect(() => writeStackFile(stackAt(5, 5))).toThrow(failed);
  expect(statSync(join(folder, "1.json")).mode & 0o777).toBe(0o600);
});

test("an empty LOCAL_STACKS is the checkout's own folder", () => {
  vi.stubEnv("LOCAL_STACKS", "");
  expect(prepareStacksFolder).not.toThrow();
});
