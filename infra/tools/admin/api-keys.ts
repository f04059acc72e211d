import { DynamoDBDocumentClient, paginateScan } from "@aws-sdk/lib-dynamodb";
import { isApiKey, makeApiKey } from "../../../shared/api-keys.ts";
import {
  type ApiKeyRecord,
  apiKeyState,
  epochSeconds,
  isApiKeyRecord,
  issueApiKey,
  readApiKey,
} from "../../../shared/api-keys-table.ts";
import { mayBeApplied } from "../../../shared/dynamodb.ts";
import { columns, header } from "../terminal/columns.ts";
import { CommandError, errorText } from "../terminal/errors.ts";
import { readSecret } from "../terminal/input.ts";
import { counted, isoTime, printable } from "../terminal/text.ts";
import type { Result } from "./session.ts";
import { TableCalls } from "./table-calls.ts";
import type { Target } from "./target.ts";

/**
 * Issues a key, which expires at a time in epoch seconds.
 *
 * @throws what the DynamoDB client throws, as do the others.
 */
export async function issueKey(
  { client, environment, apiKeysTable }: Target,
  { name, expires: expiresAt }: { name: string; expires?: number },
): Promise<Result> {
  const key = makeApiKey(environment.apiKeyPrefix);
  const createdAt = epochSeconds();
  const record = await issueApiKey(
    DynamoDBDocumentClient.from(client),
    apiKeysTable,
    key,
    expiresAt === undefined ? { name, createdAt } : { name, createdAt, expiresAt },
  ).catch((error: unknown) => {
    if (!mayBeApplied(error)) throw error;
    throw new CommandError(
      `${errorText(error)}. ${name} may have a key now: ` +
        "find it with `keys list --active`, and revoke it",
    );
  });
  const shown = publicFields(record);
  const { keyId } = shown;
  const until = shown.expiresAt ? `expires at ${shown.expiresAt}` : "never expires";
  return {
    text: key,
    json: { key, ...shown },
    notes: [
      `Issued ${keyId} to ${name}; it ${until}. Save the key now: it can't be shown again.`,
    ],
    unprinted: `Revoke ${keyId}: its key is lost`,
  };
}

/** Lists the keys that were ever issued, or that are active, the oldest first. */
export async function listKeys(
  { client, apiKeysTable }: Target,
  { table = apiKeysTable, active = false }: { table?: string; active?: boolean },
): Promise<Result> {
  const { keys, damaged } = await readApiKeys(client, table);
  const shown = keys
    .map(publicFields)
    .filter(({ state }) => !active || state === "active");
  const [first] = shown;
  const none = active ? "No active keys." : "No keys yet.";
  const rows = shown.map((key) => Object.values(key).map((value) => value ?? "never"));
  return {
    text: first ? columns([Object.keys(first).map(header), ...rows]) : none,
    json: shown,
    notes: [
      damaged > 0 &&
        `Skipped ${counted(damaged, "damaged record")}: the service rejects such keys`,
    ],
  };
}

/** Reads the records of all keys, the oldest first, and counts the damaged ones. */
async function readApiKeys(lowLevel: Target["client"], TableName: string) {
  const client = DynamoDBDocumentClient.from(lowLevel);
  const scan = { TableName, ConsistentRead: true };
  const pages = await Array.fromAsync(paginateScan({ client }, scan));
  const items = pages.flatMap(({ Items = [] }) => Items);
  const keys = items
    .filter(isApiKeyRecord)
    .sort((a, b) => a.createdAt - b.createdAt || (a.keyId < b.keyId ? -1 : 1));
  return { keys, damaged: items.length - keys.length };
}

/** Finds the record of the key with this id, if there is one. */
export async function findKey(
  { client, apiKeysTable }: Target,
  keyId: string,
): Promise<ApiKeyRecord | undefined> {
  const { keys } = await readApiKeys(client, apiKeysTable);
  return keys.find((key) => key.keyId === keyId);
}

/**
 * Finds the record of the key with this id.
 *
 * @throws CommandError when there is none.
 */
export async function requireKey(target: Target, keyId: string): Promise<ApiKeyRecord> {
  const key = await findKey(target, keyId);
  if (key) return key;
  throw new CommandError(`No key has the id ${keyId}`);
}

/**
 * Revokes the key with this id for good. Safe to repeat.
 *
 * @throws CommandError when there is none.
 */
export async function revokeKey(target: Target, keyId: string): Promise<Result> {
  const record = await requireKey(target, keyId);
  const now = epochSeconds();
  const { revokedAt = now } = record;
  const isRevoked = record.revokedAt !== undefined;
  const conflict = isRevoked
    ? undefined
    : await new TableCalls(target.client).update(
        target.apiKeysTable,
        "keyHash",
        { revokedAt: { N: String(revokedAt) } },
        { keyHash: { S: record.keyHash }, revokedAt: undefined },
      );
  // Someone else has revoked or deleted it since.
  if (conflict) return revokeKey(target, keyId);
  const since = Math.max(0, now - revokedAt);
  const acceptedForUpToSeconds = Math.max(
    0,
    target.environment.authorizerCacheSeconds - since,
  );
  const named = `${keyId} (${printable(record.name)})`;
  const what = isRevoked
    ? `${named} was already revoked at ${isoTime(revokedAt)}`
    : `Revoked ${named}`;
  const seconds = counted(acceptedForUpToSeconds, "second");
  const text =
    acceptedForUpToSeconds > 0
      ? `${what}. The gateway's cache may still accept it for up to ${seconds}.`
      : what;
  const json = {
    ...publicFields({ ...record, revokedAt }),
    acceptedForUpToSeconds,
  };
  return { text, json, unprinted: text };
}

/**
 * Checks a key from standard input by the authorizer's rules, and says why it is rejected. Never
 * quotes the key.
 */
export async function checkKey({
  client,
  apiKeysTable,
  environment,
}: Target): Promise<Result> {
  const pasted = await readSecret("Key (input is hidden): ");
  // As it stands in a header, or quoted in a log or in code.
  const key = pasted.replace(/^["']?(Authorization: *)?(Bearer +)?|["']$/gi, "");
  if (key === "") throw new CommandError("Standard input has no key");
  const prefix = `${environment.apiKeyPrefix}_`;
  if (!isApiKey(key)) return rejection("malformed or mistyped");
  if (!key.startsWith(prefix))
    return rejection(`keys for this environment start with ${prefix}`);
  const item = await readApiKey(DynamoDBDocumentClient.from(client), apiKeysTable, key);
  if (!item) return rejection("no such key was issued here");
  if (!isApiKeyRecord(item)) return rejection("its record is damaged");
  const shown = publicFields(item);
  const { state, keyId, name, expiresAt, revokedAt } = shown;
  if (state !== "active")
    return rejection(`${state} at ${revokedAt ?? expiresAt}`, keyId);
  const until = expiresAt === null ? "" : ` until ${expiresAt}`;
  return {
    text: `Accepted${until}: ${keyId} (${printable(name)})`,
    json: { accepted: true, ...shown },
  };
}

function rejection(reason: string, keyId: string | null = null) {
  const id = keyId ? ` (${keyId})` : "";
  return {
    text: `Rejected: ${reason}${id}`,
    json: { accepted: false, reason, keyId },
    rejected: true,
  };
}

/** The fields of a key's record that people may see, in the order of the columns. */
function publicFields(record: ApiKeyRecord) {
  const { keyId, name, createdAt, expiresAt, revokedAt } = record;
  const timeOf = (seconds?: number) => (seconds === undefined ? null : isoTime(seconds));
  return {
    keyId,
    name,
    createdAt: isoTime(createdAt),
    expiresAt: timeOf(expiresAt),
    revokedAt: timeOf(revokedAt),
    state: apiKeyState(record, epochSeconds()),
  };
}
