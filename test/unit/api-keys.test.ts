import fc from "fast-check";
import { expect, test } from "vitest";
import {
  apiKeyPattern,
  hashApiKey,
  isApiKey,
  isApiKeyId,
  makeApiKey,
} from "../../shared/api-keys.ts";
import { apiKeyState, isApiKeyRecord } from "../../shared/api-keys-table.ts";
import { issuedKeys } from "../helpers/issued-keys.ts";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

test.each(["pets_0", "hafen", "acme_eu_live"])(
  "an API key is its prefix, %s, 43 characters of secret and 6 of checksum",
  (own) => {
    const key = makeApiKey(own);
    expect(key).toHaveLength(own.length + 1 + 43 + 6);
    expect(key).toMatch(new RegExp(`^${apiKeyPattern(own)}$`));
    expect(isApiKey(key)).toBe(true);
    expect(key).not.toMatch(new RegExp(apiKeyPattern("pets_live")));
  },
);

test("an API key is never the same twice, and random in every character of its secret", () => {
  const keys = Array.from({ length: 1000 }, () => makeApiKey("pets_test"));
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys.filter((key) => !isApiKey(key))).toEqual([]);
  // A shorter secret would be padded.
  for (let at = "pets_test_".length; at < "pets_test_".length + 43; at++)
    expect(new Set(keys.map((key) => key[at])).size).toBeGreaterThan(40);
});

test("a key's id is key_ and sixteen small hexadecimal digits, nothing else", () => {
  const id = "key_0123456789abcdef";
  const texts = [id, `${id}0`, ` ${id}`, id.toUpperCase(), `${id.slice(0, -1)}g`];
  expect(texts.map(isApiKeyId)).toEqual([true, false, false, false, false]);
});

test("an API key is invalid with any one character changed", () => {
  const key = makeApiKey("pets_live");
  fc.assert(
    fc.property(
      fc.nat(key.length - 1),
      fc.constantFrom(...base62, "_", "-", " ", "\n", "é"),
      (at, character) => {
        fc.pre(key[at] !== character);
        expect(isApiKey(key.slice(0, at) + character + key.slice(at + 1))).toBe(false);
      },
    ),
    { numRuns: 2000 },
  );
});

test("an API key is invalid with a character more or less, or a malformed prefix", () => {
  const { key } = issuedKeys.test;
  const texts = [` ${key}`, `${key} `, `${key}\n`, `${key}0`, key.slice(0, -1), ""];
  const malformed = ["pets_", "pets_Demo", "pets_a-b", "_live", "pets__live"];
  // Their checksums are right.
  for (const text of [...texts, key.slice(1), ...malformed.map(makeApiKey)])
    expect(isApiKey(text), text).toBe(false);
});

test.each(Object.values(issuedKeys))(
  "an API key that an earlier release issued is valid, and has the hash $hash",
  ({ key, hash }) => {
    expect(isApiKey(key)).toBe(true);
    expect(hashApiKey(key)).toBe(hash);
  },
);

const whole = { keyHash: "0f", keyId: "key_1", name: "Acme", createdAt: 1 };

test.each<[state: string, times: { expiresAt?: number; revokedAt?: number }]>([
  ["active", {}],
  ["active", { expiresAt: 101 }],
  ["expired", { expiresAt: 100 }],
  ["revoked", { revokedAt: 200 }],
  ["revoked", { expiresAt: 99, revokedAt: 98 }],
])("the record of an API key is %s with %j at second 100, and valid", (state, times) => {
  expect(apiKeyState(times, 100)).toBe(state);
  expect(isApiKeyRecord({ ...whole, ...times })).toBe(true);
});

test.each(["keyHash", "keyId", "name", "createdAt", "expiresAt", "revokedAt"])(
  "the record of an API key is invalid with a %s of another type",
  (field) => {
    for (const value of [null, true, ["1"], 1.5])
      expect(isApiKeyRecord({ ...whole, [field]: value })).toBe(false);
  },
);
