import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { type Command, InvalidArgumentError } from "commander";
import { isApiKey } from "../../shared/api-keys.ts";
import { type ApiKeyRecord, apiKeyState, issueApiKey } from "../../shared/api-keys-table.ts";
import { printable } from "../orders-file/printable.ts";
import { checkApiKey, listApiKeys, revokeApiKey } from "./api-keys.ts";
import { parseMoment, parseText } from "./arguments.ts";
import { addCarryOver } from "./carry-over-command.ts";
import { keyRules } from "./carry-over-rules.ts";
import { type Result, run } from "./command.ts";
import { CommandError } from "./errors.ts";
import { addRestore } from "./restore-table.ts";
import type { Target } from "./target.ts";
import { columns, counted, isoTime, readSecret } from "./terminal.ts";

/** Adds the commands that issue, list, revoke and check API keys. */
export function addKeyCommands(program: Command): void {
  const keys = program.command("keys").description("issue, list, revoke and check API keys");
  keys
    .command("issue")
    .description("issue a key and print it, once, alone on standard output")
    .requiredOption("--name <name>", "who the key is for", parseName)
    .option("--expires <date>", "the last day the key works, in UTC, or the date-time it expires", parseExpiry)
    .action((options: NewKey, command: Command) => run(command, (target) => issue(target, options, now())));
  keys
    .command("list")
    .option("--active", "only the keys that work")
    .description("list every key ever issued; the keys themselves are never shown again")
    .option("--table <name>", "list the keys of this table (default: the one in use)")
    .action(({ table, ...filter }: KeyFilter & { table?: string }, command: Command) =>
      run(command, (target) => list({ ...target, apiKeysTable: table ?? target.apiKeysTable }, now(), filter)),
    );
  keys
    .command("revoke")
    .argument("<key-id>", "as shown by `keys list`", parseText)
    .description("revoke a key for good")
    .action((keyId: string, _options, command: Command) => {
      if (isApiKey(keyId)) {
        throw new CommandError(
          "That is a key, not a key id, and is now in your shell history. `keys check` prints its id",
        );
      }
      return run(command, (target) => revoke(target, keyId, now()));
    });
  keys
    .command("check")
    .description("read a key from standard input and say whether the service accepts it")
    .action((_options, command: Command) =>
      run(command, async (target) => check(target, await readSecret("Key (input is hidden): "), now())),
    );
  addRestore(keys, "apiKeys");
  addCarryOver(keys, "apiKeysTable", () => keyRules);
}

/** A key to issue. `expires` is in epoch seconds. */
export interface NewKey {
  name: string;
  expires?: number;
}

/** Issues a key. Here and below, `now` is the time in epoch seconds. */
export async function issue(target: Target, { name, expires }: NewKey, now: number): Promise<Result> {
  const { key, record } = await issueApiKey(
    DynamoDBDocumentClient.from(target.client),
    target.apiKeysTable,
    target.environment.apiKeyPrefix,
    { name, createdAt: now, ...(expires !== undefined && { expiresAt: expires }) },
  );
  const until = expires === undefined ? "never expires" : `expires at ${isoTime(expires)}`;
  return {
    text: key,
    json: { key, ...describe(record, now) },
    note: `Issued ${record.keyId} to ${printable(name)}; it ${until}. Save the key now: it can't be shown again.`,
  };
}

/** A choice of keys. */
export interface KeyFilter {
  active?: boolean;
}

/** Lists the keys that were ever issued, the oldest first. */
export async function list(target: Target, now: number, { active }: KeyFilter = {}): Promise<Result> {
  const { keys, damaged } = await listApiKeys(target);
  const rows = keys.map((key) => describe(key, now)).filter(({ state }) => !active || state === "active");
  const header = ["KEY ID", "NAME", "CREATED", "EXPIRES", "REVOKED", "STATE"];
  const table = columns([header, ...rows.map((row) => Object.values(row).map((value) => value ?? "never"))]);
  return {
    text: rows.length === 0 ? `No ${active ? "active keys" : "keys yet"}.` : table,
    json: rows,
    ...(damaged > 0 && { note: `Skipped ${counted(damaged, "damaged record")}: the service rejects such keys` }),
  };
}

/** Revokes the key with this id. */
export async function revoke(target: Target, keyId: string, now: number): Promise<Result> {
  const record = await revokeApiKey(target, keyId, now);
  const { authorizerCacheSeconds } = target.environment;
  const cache = `The gateway's cache may still accept it for up to ${authorizerCacheSeconds} seconds.`;
  return {
    text: printable(`Revoked ${keyId} (${record.name}). ${cache}`),
    json: { ...describe(record, now), acceptedForUpToSeconds: authorizerCacheSeconds },
  };
}

/** Says whether the service accepts a key, and if not, why. */
export async function check(target: Target, key: string, now: number): Promise<Result> {
  const verdict = await checkApiKey(target, key, now);
  if (!verdict.accepted) {
    const { reason, keyId } = verdict;
    const text = printable(`Rejected: ${reason}${keyId === undefined ? "" : ` (${keyId})`}`);
    return { text, json: { accepted: false, reason, keyId: keyId ?? null }, rejected: true };
  }
  const row = describe(verdict.record, now);
  const until = row.expiresAt === null ? "" : ` until ${row.expiresAt}`;
  return { text: printable(`Accepted${until}: ${row.keyId} (${row.name})`), json: { accepted: true, ...row } };
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

function parseName(name: string): string {
  const trimmed = name.trim();
  // Code points, as a count of what looks like one character has no bound in bytes.
  const length = [...trimmed].length;
  if (length < 1 || length > 200) throw new InvalidArgumentError("Must have 1 to 200 characters (code points).");
  if (printable(trimmed) !== trimmed) throw new InvalidArgumentError("Must be one line without control characters.");
  return trimmed;
}

/** Epoch seconds. A day ends with its last second, so that `keys list` shows the day the operator gave. */
function parseExpiry(text: string): number {
  const expiresAt = Math.floor(Date.parse(parseMoment(text, "23:59:59Z")) / 1000);
  if (new Date(expiresAt * 1000).getUTCFullYear() > 9999) {
    throw new InvalidArgumentError("Must be in the year 9999 or earlier, in UTC.");
  }
  if (expiresAt <= now()) throw new InvalidArgumentError("Must be in the future.");
  return expiresAt;
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
