import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { hashApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { issueApiKey } from "../../shared/api-keys-table.ts";
import { bundled } from "../helpers/bundled/bundled.ts";
import { createTable } from "../helpers/create-table.ts";
import { useExternalEngine } from "../helpers/external-engine.ts";

const engine = (await useExternalEngine()) ?? (await startEngine());
const client = engineClient(engine.endpoint);
const documents = DynamoDBDocumentClient.from(client);
const { callLimits, createClient, findActiveKeyId, readApiKey } = bundled;
vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", engine.endpoint);
/** The client in the authorizer's bundle. */
const service = bundled.DynamoDBDocumentClient.from(createClient(callLimits.authorizer));
const table = "api-keys";

const key = makeApiKey("pets_test");
const fields = { name: "Acme", createdAt: 100, expiresAt: 200 };

beforeAll(() => createTable(client, "apiKeys", table));
afterAll(async () => {
  client.destroy();
  await engine.stop();
});

test("an issued key is stored as its hash, with its own id, and expires", async () => {
  expect(await readApiKey(service, table, key)).toBeUndefined();
  expect(await findActiveKeyId(service, table, key, 0)).toBeUndefined();
  const record = await issueApiKey(documents, table, key, fields);
  expect(record).toEqual({
    ...fields,
    keyHash: hashApiKey(key),
    keyId: expect.stringMatching(/^key_[0-9a-f]{16}$/),
  });
  expect(await readApiKey(service, table, key)).toEqual(record);
  expect(await findActiveKeyId(service, table, key, 199)).toBe(record.keyId);
  expect(await findActiveKeyId(service, table, key, 200)).toBeUndefined();
  const other = await issueApiKey(documents, table, key, fields);
  expect(other.keyId).not.toBe(record.keyId);
});
