import { randomBytes } from "node:crypto";
import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
} from "@aws-sdk/lib-dynamodb";
import { hashApiKey, isApiKey } from "./api-keys.ts";

/**
 * An item of the API keys table. Times are epoch seconds. Of the key itself, only the hash is kept.
 */
export type ApiKeyRecord = {
  keyHash: string;
  keyId: string;
  name: string;
  createdAt: number;
  expiresAt?: number;
  revokedAt?: number;
};

/**
 * The state of a key at `now`, in epoch seconds. It expires at the start of the second `expiresAt`;
 * a revoked key stays revoked.
 */
export function apiKeyState(
  { expiresAt, revokedAt }: Pick<ApiKeyRecord, "expiresAt" | "revokedAt">,
  now: number,
): "active" | "expired" | "revoked" {
  if (revokedAt !== undefined) return "revoked";
  if (expiresAt !== undefined && expiresAt <= now) return "expired";
  return "active";
}

/**
 * The id of `key` if it is active at `now` (epoch seconds), else undefined. A malformed key costs
 * no read; any other costs one consistent read.
 *
 * @throws what the DynamoDB client throws.
 */
export async function findActiveKeyId(
  client: DynamoDBDocumentClient,
  table: string,
  key: string,
  now: number,
  abortSignal?: AbortSignal,
): Promise<string | undefined> {
  if (!isApiKey(key)) return undefined;
  const item = await readApiKey(client, table, key, abortSignal);
  return isApiKeyRecord(item) && apiKeyState(item, now) === "active"
    ? item.keyId
    : undefined;
}

/**
 * Reads the item of `key`, whatever it holds, in one consistent read.
 *
 * @returns undefined when the table has no such key.
 * @throws what the DynamoDB client throws.
 */
export async function readApiKey(
  client: DynamoDBDocumentClient,
  table: string,
  key: string,
  abortSignal?: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const command = new GetCommand({
    TableName: table,
    Key: { keyHash: hashApiKey(key) },
    ConsistentRead: true,
  });
  const { Item } = await client.send(command, abortSignal && { abortSignal });
  return Item;
}

/**
 * Issues a key: stores its hash, and an id for people to name it by.
 *
 * @throws what the DynamoDB client throws.
 */
export async function issueApiKey(
  client: DynamoDBDocumentClient,
  table: string,
  key: string,
  fields: Omit<ApiKeyRecord, "keyHash" | "keyId" | "revokedAt">,
): Promise<ApiKeyRecord> {
  const keyId = `key_${randomBytes(8).toString("hex")}`;
  const record = { keyHash: hashApiKey(key), keyId, ...fields };
  // Unconditional: no other key has this hash, and a retry writes the same item.
  await client.send(new PutCommand({ TableName: table, Item: record }));
  return record;
}

/** The current time in epoch seconds, the unit of every time in the table. */
export function epochSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Whether an item of the table is a complete record. An incomplete one authorizes nobody. */
export function isApiKeyRecord(
  item: Record<string, unknown> | undefined,
): item is ApiKeyRecord {
  const { keyHash, keyId, name, createdAt, expiresAt = 0, revokedAt = 0 } = item ?? {};
  return (
    [keyHash, keyId, name].every((text) => typeof text === "string") &&
    [createdAt, expiresAt, revokedAt].every(Number.isSafeInteger)
  );
}
