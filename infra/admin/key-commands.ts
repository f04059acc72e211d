import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { type Command, InvalidArgumentError } from "commander";
import { isApiKey } from "../../shared/api-keys.ts";
import { type ApiKeyRecord, apiKeyState, issueApiKey } from "../../shared/api-keys-table.ts";
import { isDateTime } from "../../shared/order.ts";
import { checkApiKey, listApiKeys, revokeApiKey } from "./api-keys.ts";
import { answer } from "./command.ts";
import { readSecret } from "./read-secret.ts";
import { Refusal } from "./refusal.ts";
import { columns, isoTime, printable } from "./terminal-text.ts";

/** Adds the commands that issue, list, revoke and check API keys. */
export function addKeyCommands(program: Command): void {
  const keys = program.command("keys").description("issue, list, revoke and check API keys");
  keys
    .command("issue")
    .description("issue a key and print it, this once, alone on standard output")
    .requiredOption("--name <name>", "whose key it is", parseName)
    .option("--expires <date>", "the last day it is good for, in UTC (or a date-time it is good until)", parseExpiry)
    .action((options: { name: string; expires?: number }, command: Command) => issue(command, options));
  keys
    .command("list")
    .description("list every key ever issued; none is ever shown again")
    .action((_options, command: Command) => list(command));
  keys
    .command("revoke")
    .argument("<key-id>", "as `keys list` shows it")
    .description("revoke a key for good")
    .action((keyId: string, _options, command: Command) => revoke(command, keyId));
  keys
    .command("check")
    .description("read a key from standard input and say whether it would be admitted")
    .action((_options, command: Command) => check(command));
}

function issue(command: Command, { name, expires }: { name: string; expires?: number }): Promise<void> {
  return answer(command, async (target) => {
    const expiry = expires === undefined ? {} : { expiresAt: expires };
    const { apiKeysTable, environment } = target;
    const client = DynamoDBDocumentClient.from(target.client);
    const fields = { name, createdAt: now(), ...expiry };
    const { key, record } = await issueApiKey(client, apiKeysTable, environment.apiKeyPrefix, fields);
    const until = expires === undefined ? "does not expire" : `expires at ${isoTime(expires)}`;
    return {
      text: key,
      json: { key, ...describe(record) },
      note: `Issued ${record.keyId} to ${printable(name)}. It ${until}. Keep the key now: it can't be shown again.`,
    };
  });
}

function list(command: Command): Promise<void> {
  return answer(command, async (target) => {
    const { keys, damaged } = await listApiKeys(target);
    const rows = keys.map(describe);
    const header = ["KEY ID", "NAME", "CREATED", "EXPIRES", "STATE"];
    const table = columns([header, ...rows.map((row) => Object.values(row).map((value) => value ?? "never"))]);
    return {
      text: rows.length === 0 ? "No key has been issued yet." : table,
      json: rows,
      ...(damaged > 0 && { note: `Not listed: ${damaged} rows of the table that are no keys and admit nobody` }),
    };
  });
}

function revoke(command: Command, keyId: string): Promise<void> {
  if (isApiKey(keyId)) {
    throw new Refusal("That is a key, not its id, and by now it is in your shell's history. `keys check` tells its id");
  }
  return answer(command, async (target) => {
    const record = await revokeApiKey(target, keyId, now());
    const { authorizerCacheSeconds } = target.environment;
    return {
      text: printable(
        `Revoked ${keyId} (${record.name}). The gateway's cache may still admit it for up to ${authorizerCacheSeconds} seconds.`,
      ),
      json: { ...describe(record), admittedForAtMostSeconds: authorizerCacheSeconds },
    };
  });
}

function check(command: Command): Promise<void> {
  return answer(command, async (target) => {
    const verdict = await checkApiKey(target, await readSecret("Key (it stays invisible): "), now());
    if (verdict.admitted) {
      const key = describe(verdict.record);
      const until = key.expiresAt === null ? "" : ` until ${key.expiresAt}`;
      return { text: printable(`Admitted${until}: ${key.keyId} (${key.name})`), json: { admitted: true, ...key } };
    }
    const { reason, keyId } = verdict;
    const text = printable(`Not admitted: ${reason}${keyId === undefined ? "" : ` (${keyId})`}`);
    return { text, json: { admitted: false, reason, keyId: keyId ?? null }, refused: true };
  });
}

/** What of a key's record anybody may see, in the columns' order. */
function describe(record: ApiKeyRecord) {
  return {
    keyId: record.keyId,
    // The authorizer does not need a name, so a record without one is whole.
    name: String(record.name ?? ""),
    createdAt: isoTime(record.createdAt),
    expiresAt: record.expiresAt === undefined ? null : isoTime(record.expiresAt),
    state: apiKeyState(record, now()),
  };
}

function parseName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "" || trimmed.length > 100) throw new InvalidArgumentError("A name has 1 to 100 characters.");
  if (printable(trimmed) !== trimmed) throw new InvalidArgumentError("A name is one line without control characters.");
  return trimmed;
}

/** Epoch seconds. A day ends with its last second, so that the list shows the day that was asked for. */
function parseExpiry(text: string): number {
  const moment = isDateTime(text) ? text : `${text}T23:59:59Z`;
  if (!isDateTime(moment))
    throw new InvalidArgumentError("It is no date like 2027-12-31, nor a date-time with an offset.");
  const expiresAt = Math.floor(Date.parse(moment) / 1000);
  if (expiresAt <= now()) throw new InvalidArgumentError("It is in the past.");
  return expiresAt;
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
