import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

// An API key is `PREFIX_`, 43 base62 characters (256 random bits) and 6 more with the CRC-32 of
// what precedes them. The prefix tells the environments apart; thanks to the checksum, a mistyped
// key is rejected without a read.

/** A regular expression, without anchors, for prefixes: words like `pets_live`. */
export const apiKeyPrefixes = "[0-9a-z]+(?:_[0-9a-z]+)*";

const base62Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretLength = 43;
const checksumLength = 6;

/**
 * A regular expression for keys with this prefix, without anchors, in the syntax that Java and
 * JavaScript share.
 */
export function apiKeyPattern(prefix: string): string {
  return `${prefix}_[0-9A-Za-z]{${secretLength + checksumLength}}`;
}

/** A new key. Its owner sees it once; only its hash is ever stored. */
export function makeApiKey(prefix: string): string {
  const secret = base62(BigInt(`0x${randomBytes(32).toString("hex")}`), secretLength);
  return withChecksum(`${prefix}_${secret}`);
}

/** Whether the text is well-formed as a key of any environment, including its checksum. */
export function isApiKey(text: string): boolean {
  return apiKey.test(text) && text === withChecksum(text.slice(0, -checksumLength));
}

const apiKey = new RegExp(`^${apiKeyPattern(apiKeyPrefixes)}$`);

/** Whether the text is well-formed as the id by which people name a key. */
export function isApiKeyId(text: string): boolean {
  return /^key_[0-9a-f]{16}$/.test(text);
}

/** SHA-256 of the key in lower-case hexadecimal, the partition key of the API keys table. */
export function hashApiKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

function withChecksum(text: string) {
  return text + base62(BigInt(crc32(text)), checksumLength);
}

function base62(value: bigint, length: number) {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n)
    text = base62Digits.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, "0");
}
