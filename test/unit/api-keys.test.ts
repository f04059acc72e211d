import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ApiKeyPrefix,
  apiKeyPattern,
  hashApiKey,
  isApiKey,
  makeApiKey,
  withoutKeys,
} from "../../shared/api-keys.ts";
import { apiKeyState, isApiKeyRecord } from "../../shared/api-keys-table.ts";
import { issuedKeys } from "../helpers/issued-keys.ts";

const prefix = fc.constantFrom<ApiKeyPrefix>("pets_test", "pets_live", "pets_0", "pets_eu9z");
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

describe("an API key", () => {
  test("has the form of the keys of its environment and of no other", () => {
    fc.assert(
      fc.property(prefix, (own) => {
        const key = makeApiKey(own);
        const other = own === "pets_test" ? "pets_live" : "pets_test";
        expect(key).toMatch(new RegExp(`^${own}_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$`));
        expect(key).toMatch(new RegExp(`^${apiKeyPattern(own)}$`));
        expect(key).not.toMatch(new RegExp(apiKeyPattern(other)));
        expect(isApiKey(key)).toBe(true);
      }),
    );
  });

  test("is never the same twice", () => {
    const keys = Array.from({ length: 1000 }, () => makeApiKey("pets_test"));
    expect(new Set(keys).size).toBe(keys.length);
    // Nor alike anywhere: a shorter secret would be padded.
    const secrets = keys.map((key) => key.slice("pets_test_".length, -6));
    for (let at = 0; at < 43; at++)
      expect(new Set(secrets.map((secret) => secret[at])).size).toBeGreaterThan(40);
  });

  test("is invalid with any one character changed", () => {
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

  test("is cut short in a text that quotes it, wherever and however often", () => {
    fc.assert(
      fc.property(prefix, fc.constantFrom("", " ", '"', "Bearer "), (own, before) => {
        const quoted = `${before}${makeApiKey(own)}, ${makeApiKey(own)}x\n`;
        expect(withoutKeys(quoted)).toBe(`${before}${own}_..., ${own}_...\n`);
      }),
    );
  });

  test("is invalid with anything around it, or cut short", () => {
    const key = makeApiKey("pets_test");
    for (const text of [
      ` ${key}`,
      `${key} `,
      `${key}\n`,
      `${key}0`,
      key.slice(0, -1),
      key.slice(1),
      "",
    ]) {
      expect(isApiKey(text)).toBe(false);
    }
  });

  test("is invalid with a prefix of another form, even if the checksum is right", () => {
    for (const prefix of ["pets_", "pets_Demo", "pets_a-b"] as const)
      expect(isApiKey(makeApiKey(prefix))).toBe(false);
  });

  test.each(Object.entries(issuedKeys))(
    "is valid when an earlier release issued it (%s)",
    (_, { key, hash }) => {
      expect(isApiKey(key)).toBe(true);
      expect(hashApiKey(key)).toBe(hash);
    },
  );
});

describe("the record of an API key", () => {
  const whole = { keyHash: "0f", keyId: "key_1", name: "Acme", createdAt: 1 };

  test.each<[string, { expiresAt?: number; revokedAt?: number }]>([
    ["active", {}],
    ["active", { expiresAt: 101 }],
    ["expired", { expiresAt: 100 }],
    ["revoked", { revokedAt: 200 }],
    ["revoked", { expiresAt: 99, revokedAt: 98 }],
  ])("is %s with %j at second 100", (state, times) => {
    expect(apiKeyState(times, 100)).toBe(state);
    expect(isApiKeyRecord({ ...whole, ...times })).toBe(true);
  });

  test.each([
    { keyHash: 1 },
    { keyId: 1 },
    { name: 1 },
    { createdAt: "1" },
    { expiresAt: "1" },
    { revokedAt: "1" },
    { revokedAt: 1.5 },
  ])("is incomplete with %j", (damage) => {
    expect(isApiKeyRecord({ ...whole, ...damage })).toBe(false);
  });
});
