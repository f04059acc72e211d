import { DynamoDBDocumentClient, paginateScan } from "@aws-sdk/lib-dynamodb";
import { isApiKey } from "../../shared/api-keys.ts";
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
import { columns, isoTime } from "../terminal/text.ts";
import { keyRules } from "./carry-over-rules.ts";
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
  const fields = { name, createdAt: now, expiresAt };
  const { key, record } = await issueApiKey(
    documents,
    target.apiKeysTable,
    target.environment.apiKeyPrefix,
    fields,
  );
  const until = expiresAt === undefined ? "never expires" : `expires at ${isoTime(expiresAt)}`;
  return {
    text: key,
    json: { key, ...describe(record, now) },
    note:
      `Issued ${record.keyId} to ${printable(name)}; it ${until}. ` +
      "Save the key now: it can't be shown again.",
  };
}

/** Lists the keys that were ever issued, or that are active, the oldest first. */
export async function list(target: Target, now: number, active = false): Promise<Result> {
  const { keys, damaged } = await readApiKeys(target);
  const rows = keys
    .map((key) => describe(key, now))
    .filter(({ state }) => !active || state === "active");
  const header = ["KEY ID", "NAME", "CREATED", "EXPIRES", "REVOKED", "STATE"];
  const table = columns([
    header,
    ...rows.map((row) => Object.values(row).map((value) => value ?? "never")),
  ]);
  return {
    text: rows.length === 0 ? `No ${active ? "active keys" : "keys yet"}.` : table,
    json: rows,
    ...(damaged > 0 && {
      note: `Skipped ${counted(damaged, "damaged record")}: the service rejects such keys`,
    }),
  };
}

/**
 * Reads every key ever issued, the oldest first, and counts the items that aren't complete records.
 */
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

/** The error for an id that no key has. */
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
  const unmet = await new TableCalls(target.client).update(
    target.apiKeysTable,
    { keyHash: { S: record.keyHash } },
    { revokedAt: { N: String(now) } },
    keyRules.condition,
  );
  if (unmet) {
    const revokedAt = Number(unmet.found?.["revokedAt"]?.N);
    throw unmet.found
      ? new CommandError(`Key ${keyId} was already revoked at ${isoTime(revokedAt)}`)
      : noKey(keyId);
  }
  const { authorizerCacheSeconds } = target.environment;
  return {
    text: printable(
      `Revoked ${keyId} (${record.name}). ` +
        `The gateway's cache may still accept it for up to ${authorizerCacheSeconds} seconds.`,
    ),
    json: {
      ...describe({ ...record, revokedAt: now }, now),
      acceptedForUpToSeconds: authorizerCacheSeconds,
    },
  };
}

/**
 * Says whether the authorizer accepts a key, by its rules, and if not, why. It never quotes the
 * key.
 */
export async function check(
  { client, apiKeysTable, environment }: Target,
  key: string,
  now: number,
): Promise<Result> {
  const rejected = (reason: string, keyId: string | null = null): Result => ({
    text: printable(`Rejected: ${reason}${keyId === null ? "" : ` (${keyId})`}`),
    json: { accepted: false, reason, keyId },
    rejected: true,
  });
  const prefix = `${environment.apiKeyPrefix}_`;
  if (!isApiKey(key)) return rejected("malformed or mistyped");
  if (!key.startsWith(prefix)) return rejected(`keys for this environment start with ${prefix}`);
  const item = await readApiKey(DynamoDBDocumentClient.from(client), apiKeysTable, key);
  if (!item) return rejected("no such key was issued here");
  if (!isApiKeyRecord(item)) return rejected("its record is damaged");
  const row = describe(item, now);
  const { state, keyId, name, expiresAt, revokedAt } = row;
  if (state !== "active")
    return rejected(`${state} at ${state === "expired" ? expiresAt : revokedAt}`, keyId);
  const until = expiresAt === null ? "" : ` until ${expiresAt}`;
  return {
    text: printable(`Accepted${until}: ${keyId} (${name})`),
    json: { accepted: true, ...row },
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
