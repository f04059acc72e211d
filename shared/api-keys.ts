import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * An API key is `PREFIX_`, 43 base62 characters (256 random bits) and the CRC-32 of all that in 6 more. The prefix
 * tells the environments apart; the checksum lets a mistyped key be refused without asking a table.
 */
export type ApiKeyPrefix = "pets_test" | "pets_live";

const base62Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretLength = 43;
const checksumLength = 6;

/** A regular expression, in the syntax Java and JavaScript share and without anchors, for the keys with this prefix. */
export function apiKeyPattern(prefix: ApiKeyPrefix): string {
  return `${prefix}_[0-9A-Za-z]{${secretLength + checksumLength}}`;
}

/** A new key. It is shown to its owner once; only its hash is ever stored. */
export function makeApiKey(prefix: ApiKeyPrefix): string {
  const secret = base62(BigInt(`0x${randomBytes(32).toString("hex")}`), secretLength);
  const unchecked = `${prefix}_${secret}`;
  return unchecked + checksum(unchecked);
}

/** Whether the text has the form of a key of any environment, its checksum included. */
export function isApiKey(text: string): boolean {
  if (!apiKey.test(text)) return false;
  return checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

const apiKey = new RegExp(`^(?:${apiKeyPattern("pets_test")}|${apiKeyPattern("pets_live")})$`);

/** SHA-256 of the key in lower-case hexadecimal: what the table of keys is keyed by. */
export function hashApiKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), checksumLength);
}

function base62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n) text = base62Digits.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, "0");
}
