import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { hashApiKey, isApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { findActiveKeyId, issueApiKey, readApiKey } from "../../shared/api-keys-table.ts";
import { createTable } from "../helpers/create-table.ts";
import { useExternalEngine } from "../helpers/external-engine.ts";

const engine = (await useExternalEngine()) ?? (await startEngine());
const client = engineClient(engine.endpoint);
const documents = DynamoDBDocumentClient.from(client);
const table = "api-keys";

beforeAll(() => createTable(client, "apiKeys", table));
afterAll(async () => {
  client.destroy();
  await engine.stop();
});

const issue = (fields: { name: string; createdAt: number; expiresAt?: number }) =>
  issueApiKey(documents, table, "pets_test", fields);

describe("an issued API key", () => {
  test("is active until it expires", async () => {
    const { key, record } = await issue({ name: "Acme", createdAt: 100, expiresAt: 200 });
    expect(isApiKey(key)).toBe(true);
    expect(key).toMatch(/^pets_test_/);
    expect(await findActiveKeyId(documents, table, key, 199)).toBe(record.keyId);
    expect(await findActiveKeyId(documents, table, key, 200)).toBeUndefined();
  });

  test("is stored as its hash, never as itself", async () => {
    const { key, record } = await issue({ name: "Acme", createdAt: 100 });
    expect(record).toEqual({
      keyHash: hashApiKey(key),
      keyId: expect.stringMatching(/^key_[0-9a-f]{16}$/),
      name: "Acme",
      createdAt: 100,
    });
    expect(await readApiKey(documents, table, key)).toEqual(record);
    const { Item } = await client.send(
      new GetItemCommand({ TableName: table, Key: { keyHash: { S: record.keyHash } }, ConsistentRead: true }),
    );
    expect(JSON.stringify(Item)).not.toContain(key);
  });

  test("has a key and an id of its own", async () => {
    const one = await issue({ name: "Acme", createdAt: 100 });
    const other = await issue({ name: "Acme", createdAt: 100 });
    expect(one.key).not.toBe(other.key);
    expect(one.record.keyId).not.toBe(other.record.keyId);
  });
});

test("a key that nobody issued is unknown", async () => {
  const key = makeApiKey("pets_test");
  expect(await readApiKey(documents, table, key)).toBeUndefined();
  expect(await findActiveKeyId(documents, table, key, 0)).toBeUndefined();
});
