import { DynamoDBDocumentClient, paginateScan } from "@aws-sdk/lib-dynamodb";
import { isApiKey, makeApiKey } from "../../shared/api-keys.ts";
import {
  type ApiKeyRecord,
  apiKeyState,
  isApiKeyRecord,
  issueApiKey,
  readApiKey,
} from "../../shared/api-keys-table.ts";
import { counted } from "../terminal/counted.ts";
import { CommandError } from "../terminal/errors.ts";
import { printable } from "../terminal/printable.ts";
import { isoTime, tableOf } from "../terminal/text.ts";
import type { Result } from "./command.ts";
import { TableCalls } from "./table-calls.ts";
import type { Target } from "./target.ts";

/**
 * Issues a key. Here and below, times are in epoch seconds.
 *
 * @throws what the DynamoDB client throws, as do the others.
 */
export async function issue(
  target: Target,
  name: string,
  expiresAt: number | undefined,
  now: number,
): Promise<Result> {
  const documents = DynamoDBDocumentClient.from(target.client);
  const key = makeApiKey(target.environment.apiKeyPrefix);
  const fields = { name, createdAt: now, expiresAt };
  const row = describe(await issueApiKey(documents, target.apiKeysTable, key, fields), now);
  const until = row.expiresAt === null ? "never expires" : `expires at ${row.expiresAt}`;
  const issued = `Issued ${row.keyId} to ${name}; it ${until}`;
  return {
    text: key,
    json: { key, ...row },
    note: printable(`${issued}. Save the key now: it can't be shown again.`),
    unprinted: `Revoke ${row.keyId}: its key is lost`,
  };
}

/** Lists the keys that were ever issued, or that are active, the oldest first. */
export async function list(target: Target, now: number, active = false): Promise<Result> {
  const { keys, damaged } = await readApiKeys(target);
  const rows = keys
    .map((key) => describe(key, now))
    .filter(({ state }) => !active || state === "active");
  const none = active ? "No active keys." : "No keys yet.";
  const skipped = `Skipped ${counted(damaged, "damaged record")}: the service rejects such keys`;
  return {
    text: rows.length === 0 ? none : tableOf(rows, "never"),
    json: rows,
    note: damaged === 0 ? undefined : skipped,
  };
}

/** Reads the records of all keys, the oldest first, and counts the damaged ones. */
async function readApiKeys({
  client,
  apiKeysTable,
}: Target): Promise<{ keys: ApiKeyRecord[]; damaged: number }> {
  const scan = { TableName: apiKeysTable, ConsistentRead: true };
  const pages = await Array.fromAsync(
    paginateScan({ client: DynamoDBDocumentClient.from(client) }, scan),
  );
  const items = pages.flatMap(({ Items = [] }) => Items);
  const keys = items
    .filter(isApiKeyRecord)
    .sort((a, b) => a.createdAt - b.createdAt || (a.keyId < b.keyId ? -1 : 1));
  return { keys, damaged: items.length - keys.length };
}

/** Finds the record of the key with this id, if there is one. */
export async function findKey(target: Target, keyId: string): Promise<ApiKeyRecord | undefined> {
  const { keys } = await readApiKeys(target);
  return keys.find((key) => key.keyId === keyId);
}

/** The error for an unknown key id. */
export const noKey = (keyId: string): CommandError =>
  new CommandError(`No key has the id ${keyId}`);

/**
 * Revokes the key with this id for good.
 *
 * @throws CommandError when there is none or it is already revoked.
 */
export async function revoke(target: Target, keyId: string, now: number): Promise<Result> {
  const record = await findKey(target, keyId);
  if (!record) throw noKey(keyId);
  const keyHash = { S: record.keyHash };
  const unmet = await new TableCalls(target.client).update(
    target.apiKeysTable,
    { keyHash },
    { revokedAt: { N: String(now) } },
    { keyHash, revokedAt: undefined },
  );
  if (unmet) {
    if (!unmet.found) throw noKey(keyId);
    const revokedAt = isoTime(Number(unmet.found["revokedAt"]?.N));
    throw new CommandError(`Key ${keyId} was already revoked at ${revokedAt}`);
  }
  const { authorizerCacheSeconds } = target.environment;
  const text = printable(
    `Revoked ${keyId} (${record.name}). The gateway's cache may still accept it for up to ` +
      `${counted(authorizerCacheSeconds, "second")}.`,
  );
  return {
    text,
    json: {
      ...describe({ ...record, revokedAt: now }, now),
      acceptedForUpToSeconds: authorizerCacheSeconds,
    },
    unprinted: text,
  };
}

/** Checks a key by the authorizer's rules, and says why it is rejected. Never quotes the key. */
export async function check(
  { client, apiKeysTable, environment }: Target,
  key: string,
  now: number,
): Promise<Result> {
  const prefix = `${environment.apiKeyPrefix}_`;
  if (!isApiKey(key)) return rejection("malformed or mistyped");
  if (!key.startsWith(prefix)) return rejection(`keys for this environment start with ${prefix}`);
  const item = await readApiKey(DynamoDBDocumentClient.from(client), apiKeysTable, key);
  if (!item) return rejection("no such key was issued here");
  if (!isApiKeyRecord(item)) return rejection("its record is damaged");
  const row = describe(item, now);
  const { state, keyId, name, expiresAt, revokedAt } = row;
  if (state === "expired") return rejection(`expired at ${expiresAt}`, keyId);
  if (state === "revoked") return rejection(`revoked at ${revokedAt}`, keyId);
  const until = expiresAt === null ? "" : ` until ${expiresAt}`;
  return {
    text: printable(`Accepted${until}: ${keyId} (${name})`),
    json: { accepted: true, ...row },
  };
}

function rejection(reason: string, keyId: string | null = null): Result {
  const id = keyId === null ? "" : ` (${keyId})`;
  return {
    text: printable(`Rejected: ${reason}${id}`),
    json: { accepted: false, reason, keyId },
    rejected: true,
  };
}

/** The public part of a key's record, in the order of the columns. */
function describe(record: ApiKeyRecord, now: number) {
  return {
    keyId: record.keyId,
    name: record.name,
    createdAt: isoTime(record.createdAt),
    expiresAt: record.expiresAt === undefined ? null : isoTime(record.expiresAt),
    revokedAt: record.revokedAt === undefined ? null : isoTime(record.revokedAt),
    state: apiKeyState(record, now),
  };
}
