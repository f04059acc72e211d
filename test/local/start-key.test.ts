import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { issueStartKey } from "../../infra/local/start-key.ts";
import { readStack } from "../../infra/template/synthesis.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { findActiveKeyId, issueApiKey } from "../../shared/api-keys-table.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";

const tables = await createTestTables();
const { dynamodbEndpoint } = tables;
const { client, apiKeysTable } = tables.target;
const documents = DynamoDBDocumentClient.from(client);
const works = async (key: string) => (await findActiveKeyId(documents, apiKeysTable, key, 1)) !== undefined;
const start = (name: string, key?: string) => issueStartKey(client, apiKeysTable, { name, key });

test("a start's key takes the place of the one before with its name, and of no other", async () => {
  const { key: issued } = await issueApiKey(documents, apiKeysTable, "pets_test", { name: "Acme", createdAt: 0 });
  const elsewhere = await start("npm start, port 3001");
  const earlier = await start("npm start");
  const latest = await start("npm start");
  expect(await Promise.all([issued, elsewhere, earlier, latest].map(works))).toEqual([true, true, false, true]);
});

test("stacks that share an engine leave each other's keys alone", async () => {
  const log = vi.fn<(line: string) => void>();
  const options = { port: 0, dynamodbEndpoint, log };
  const build = () => readStack(inject("assembly"));
  const first = await startLocalStack(build, options);
  onTestFinished(first.stop);
  const second = await startLocalStack(build, options);
  onTestFinished(second.stop);
  const keys = [first, second].map(({ apiKey }) => findActiveKeyId(documents, first.tables.apiKeys, apiKey, 1));
  expect(await Promise.all(keys)).not.toContain(undefined);
  // Only orders that someone gave are missed when the tables exist already.
  expect(log).not.toHaveBeenCalled();
});

test("a given key works from start to start, and no longer once another is given", async () => {
  const [given, other] = [makeApiKey("pets_test"), makeApiKey("pets_test")];
  expect(await start("npm start", given)).toBe(given);
  expect(await start("npm start", given)).toBe(given);
  expect(await works(given)).toBe(true);
  expect(await start("npm start", other)).toBe(other);
  expect(await works(given)).toBe(false);
});
