import { DynamoDBDocumentClient, paginateScan } from "@aws-sdk/lib-dynamodb";
import { isApiKey } from "../../shared/api-keys.ts";
import { type ApiKeyRecord, apiKeyState, isApiKeyRecord, readApiKey } from "../../shared/api-keys-table.ts";
import { EmptyResponseError } from "../../shared/dynamodb.ts";
import { CommandError } from "./errors.ts";
import { TableCalls } from "./table-calls.ts";
import type { Target } from "./target.ts";
import { isoTime } from "./terminal.ts";

/** Reads every key ever issued, the oldest first, and counts the items that aren't complete records. */
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
  for await (const { Items } of paginator) {
    if (Items === undefined) throw new EmptyResponseError("Scan");
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
 * @throws CommandError when there is none or it is already revoked, EmptyResponseError.
 */
export async function revokeApiKey(target: Target, keyId: string, now: number): Promise<ApiKeyRecord> {
  const { keys } = await listApiKeys(target);
  const record = keys.find((key) => key.keyId === keyId);
  if (!record) throw new CommandError(`No key has the id ${keyId}`);
  const condition = {
    ConditionExpression: "keyId = :keyId AND attribute_not_exists(revokedAt)",
    ExpressionAttributeValues: { ":keyId": { S: keyId } },
  };
  const set = { revokedAt: { N: String(now) } };
  const calls = new TableCalls(target.client);
  const unmet = await calls.update(target.apiKeysTable, { keyHash: { S: record.keyHash } }, set, condition);
  if (unmet?.found) {
    throw new CommandError(`Key ${keyId} was already revoked at ${isoTime(Number(unmet.found["revokedAt"]?.N))}`);
  }
  if (unmet) throw new CommandError(`No key has the id ${keyId}`);
  return { ...record, revokedAt: now };
}

/** Whether the authorizer accepts a key, and if not, why. */
export type Verdict = { accepted: true; record: ApiKeyRecord } | { accepted: false; reason: string; keyId?: string };

/** Judges a key by the authorizer's rules at `now`, in epoch seconds. The reason never quotes the key. */
export async function checkApiKey(
  { client, apiKeysTable, environment }: Target,
  key: string,
  now: number,
): Promise<Verdict> {
  if (!isApiKey(key)) return { accepted: false, reason: "malformed or mistyped" };
  if (!key.startsWith(`${environment.apiKeyPrefix}_`)) {
    return { accepted: false, reason: `keys for this environment start with ${environment.apiKeyPrefix}_` };
  }
  const item = await readApiKey(DynamoDBDocumentClient.from(client), apiKeysTable, key);
  if (!item) return { accepted: false, reason: "no such key was issued here" };
  if (!isApiKeyRecord(item)) return { accepted: false, reason: "its record is damaged" };
  const { keyId, expiresAt, revokedAt } = item;
  switch (apiKeyState(item, now)) {
    case "active":
      return { accepted: true, record: item };
    case "expired":
      return { accepted: false, reason: `expired at ${isoTime(expiresAt ?? now)}`, keyId };
    case "revoked":
      return { accepted: false, reason: `revoked at ${isoTime(revokedAt ?? now)}`, keyId };
  }
}
