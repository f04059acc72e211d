import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { hashApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { findActiveKeyId, issueApiKey, readApiKey } from "../../shared/api-keys-table.ts";
import { createTable } from "../helpers/create-table.ts";
import { useExternalEngine } from "../helpers/external-engine.ts";

const engine = (await useExternalEngine()) ?? (await startEngine());
const client = engineClient(engine.endpoint);
const documents = DynamoDBDocumentClient.from(client);
const table = "api-keys";

const key = makeApiKey("pets_test");
const fields = { name: "Acme", createdAt: 100, expiresAt: 200 };

beforeAll(() => createTable(client, "apiKeys", table));
afterAll(async () => {
  client.destroy();
  await engine.stop();
});

describe("an issued API key", () => {
  test("is active until it expires", async () => {
    const record = await issueApiKey(documents, table, key, fields);
    expect(await findActiveKeyId(documents, table, key, 199)).toBe(record.keyId);
    expect(await findActiveKeyId(documents, table, key, 200)).toBeUndefined();
  });

  test("has an id of its own", async () => {
    const one = await issueApiKey(documents, table, key, fields);
    const other = await issueApiKey(documents, table, key, fields);
    expect(one.keyId).not.toBe(other.keyId);
  });

  test("is stored as its hash with its name and times", async () => {
    const record = await issueApiKey(documents, table, key, fields);
    expect(record).toEqual({
      ...fields,
      keyHash: hashApiKey(key),
      keyId: expect.stringMatching(/^key_[0-9a-f]{16}$/),
    });
    expect(await readApiKey(documents, table, key)).toEqual(record);
  });
});

test("a key whose expiry is damaged is never active", async () => {
  const record = await issueApiKey(documents, table, key, fields);
  await documents.send(new PutCommand({ TableName: table, Item: { ...record, expiresAt: null } }));
  for (const now of [0, 150, 200, 4_000_000_000])
    expect(await findActiveKeyId(documents, table, key, now)).toBeUndefined();
});

test("a key that nobody issued has no record", async () => {
  const unknown = makeApiKey("pets_test");
  expect(await readApiKey(documents, table, unknown)).toBeUndefined();
});

test("a key that nobody issued is not active", async () => {
  const unknown = makeApiKey("pets_test");
  expect(await findActiveKeyId(documents, table, unknown, 0)).toBeUndefined();
});
