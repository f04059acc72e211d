import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, onTestFinished, test } from "vitest";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { issueStartKey } from "../../infra/local/start-key.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { findActiveKeyId, issueApiKey, readApiKey } from "../../shared/api-keys-table.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { createTestTables } from "../helpers/test-tables.ts";

const { dynamodbEndpoint, target } = await createTestTables();
const { client, apiKeysTable } = target;
const documents = DynamoDBDocumentClient.from(client);
const works = async (key: string) =>
  (await findActiveKeyId(documents, apiKeysTable, key, 1)) !== undefined;
const start = (name: string, key?: string) => issueStartKey(client, apiKeysTable, name, key);

test("a start revokes no key but the previous one of the same name", async () => {
  const fields = { name: "Acme", createdAt: 0 };
  const issued = makeApiKey("pets_test");
  await issueApiKey(documents, apiKeysTable, issued, fields);
  const elsewhere = await start("npm start, port 3001");
  const earlier = await start("npm start");
  const latest = await start("npm start");
  const keys = [issued, elsewhere, earlier, latest];
  expect(await Promise.all(keys.map(works))).toEqual([true, true, false, true]);
});

test("a key that a later start revoked keeps its record", async () => {
  const earlier = await start("npm start");
  const active = await readApiKey(documents, apiKeysTable, earlier);
  await start("npm start");
  const revoked = await readApiKey(documents, apiKeysTable, earlier);
  expect(revoked).toEqual({ ...active, revokedAt: expect.any(Number) });
});

test("a key that is given to every start keeps its record", async () => {
  const given = makeApiKey("pets_test");
  expect(await start("npm start", given)).toBe(given);
  const first = await readApiKey(documents, apiKeysTable, given);
  expect(await start("npm start", given)).toBe(given);
  expect(await readApiKey(documents, apiKeysTable, given)).toEqual(first);
});

test("a key that has been revoked is accepted again when a start is given it", async () => {
  const given = makeApiKey("pets_test");
  await start("npm start", given);
  await start("npm start");
  await start("npm start", given);
  expect(await works(given)).toBe(true);
});

test("stacks that share an engine leave each other's keys alone", async () => {
  const stacks = [];
  for (const _ of ["first", "second"]) {
    const options = { port: 0, dynamodbEndpoint, log: () => {} };
    const stack = await startLocalStack(readAssembly, options);
    onTestFinished(stack.stop);
    stacks.push(stack);
  }
  const keys = stacks.map(({ apiKey, tables }) =>
    findActiveKeyId(documents, tables.apiKeys, apiKey, 1),
  );
  expect(await Promise.all(keys)).not.toContain(undefined);
});
