import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, paginateScan, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { isApiKey } from "../../shared/api-keys.ts";
import { type ApiKeyRecord, apiKeyState, isApiKeyRecord, readApiKey } from "../../shared/api-keys-table.ts";
import { Refusal } from "./refusal.ts";
import type { Target } from "./target.ts";
import { isoTime } from "./terminal-text.ts";

/** Every key ever issued, the oldest first, and how many rows of the table are no whole record and so admit nobody. */
export async function listApiKeys({
  client,
  apiKeysTable,
}: Target): Promise<{ keys: ApiKeyRecord[]; damaged: number }> {
  const keys: ApiKeyRecord[] = [];
  let damaged = 0;
  const paginator = paginateScan(
    { client: DynamoDBDocumentClient.from(client) },
    { TableName: apiKeysTable, ConsistentRead: true },
  );
  for await (const { Items = [] } of paginator) {
    for (const item of Items) {
      if (isApiKeyRecord(item)) keys.push(item);
      else damaged++;
    }
  }
  keys.sort((a, b) => a.createdAt - b.createdAt || (a.keyId < b.keyId ? -1 : 1));
  return { keys, damaged };
}

/**
 * Revokes the key with this id at `now`, in epoch seconds.
 *
 * @throws Refusal when there is none, or it is revoked already.
 */
export async function revokeApiKey(target: Target, keyId: string, now: number): Promise<ApiKeyRecord> {
  const { keys } = await listApiKeys(target);
  const record = keys.find((key) => key.keyId === keyId);
  if (!record) throw new Refusal(`No key has the id ${keyId}`);
  const command = new UpdateCommand({
    TableName: target.apiKeysTable,
    Key: { keyHash: record.keyHash },
    UpdateExpression: "SET revokedAt = :now",
    ConditionExpression: "keyId = :keyId AND attribute_not_exists(revokedAt)",
    ExpressionAttributeValues: { ":keyId": keyId, ":now": now },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  try {
    await DynamoDBDocumentClient.from(target.client).send(command);
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    const revokedAt = Number(error.Item?.["revokedAt"]?.N);
    // Its answer lost, our own first attempt makes the second one fail.
    const ours = (error.$metadata.attempts ?? 1) > 1 && revokedAt === now;
    if (!ours) throw new Refusal(`The key ${keyId} has been revoked already, at ${isoTime(revokedAt)}`);
  }
  return { ...record, revokedAt: now };
}

/** Whether the authorizer would admit a key, and if not, why. */
export type Verdict = { admitted: true; record: ApiKeyRecord } | { admitted: false; reason: string; keyId?: string };

/** Judges what claims to be a key by the authorizer's own rules at `now`, in epoch seconds. No answer quotes it. */
export async function checkApiKey(
  { client, apiKeysTable, environment }: Target,
  key: string,
  now: number,
): Promise<Verdict> {
  if (!isApiKey(key)) return { admitted: false, reason: "it is no key: its form or its checksum is wrong" };
  if (!key.startsWith(`${environment.apiKeyPrefix}_`)) {
    return { admitted: false, reason: `keys of this environment start with ${environment.apiKeyPrefix}_` };
  }
  const record = await readApiKey(DynamoDBDocumentClient.from(client), apiKeysTable, key);
  if (!record) return { admitted: false, reason: "no such key was issued here" };
  if (!isApiKeyRecord(record)) return { admitted: false, reason: "its record is damaged" };
  const { keyId, expiresAt, revokedAt } = record;
  switch (apiKeyState(record, now)) {
    case "active":
      return { admitted: true, record };
    case "expired":
      return { admitted: false, reason: `it expired at ${isoTime(expiresAt ?? now)}`, keyId };
    case "revoked":
      return { admitted: false, reason: `it was revoked at ${isoTime(revokedAt ?? now)}`, keyId };
  }
}
