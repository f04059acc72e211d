import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  apiKeyPattern,
  hashApiKey,
  isApiKey,
  makeApiKey,
  withoutKeys,
} from "../../shared/api-keys.ts";
import { apiKeyState, isApiKeyRecord } from "../../shared/api-keys-table.ts";
import { issuedKeys } from "../helpers/issued-keys.ts";

const prefix = fc.constantFrom("pets_test", "pets_0", "hafen_live", "hafen", "acme_eu_live");
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

describe("an API key", () => {
  test("is its prefix, 43 characters of secret and 6 of checksum", () => {
    fc.assert(
      fc.property(prefix, (own) => {
        expect(makeApiKey(own)).toMatch(new RegExp(`^${own}_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$`));
      }),
    );
  });

  test("is valid when it is new", () => {
    fc.assert(
      fc.property(prefix, (own) => {
        expect(isApiKey(makeApiKey(own))).toBe(true);
      }),
    );
  });

  test("matches the pattern of its environment and of no other", () => {
    fc.assert(
      fc.property(prefix, (own) => {
        const key = makeApiKey(own);
        const other = own === "pets_test" ? "pets_live" : "pets_test";
        expect(key).toMatch(new RegExp(`^${apiKeyPattern(own)}$`));
        expect(key).not.toMatch(new RegExp(apiKeyPattern(other)));
      }),
    );
  });

  const manyKeys = Array.from({ length: 1000 }, () => makeApiKey("pets_test"));

  test("is never the same twice", () => {
    expect(new Set(manyKeys).size).toBe(manyKeys.length);
  });

  test("has a secret that is random in every character", () => {
    const secrets = manyKeys.map((key) => key.slice("pets_test_".length, -6));
    // A shorter secret would be padded.
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

  const validKey = issuedKeys.test.key;

  test.each([
    ["a space before it", ` ${validKey}`],
    ["a space after it", `${validKey} `],
    ["a line break after it", `${validKey}\n`],
    ["one character too many", `${validKey}0`],
    ["its last character missing", validKey.slice(0, -1)],
    ["its first character missing", validKey.slice(1)],
    ["all of its characters missing", ""],
  ])("is invalid with %s", (_, text) => {
    expect(isApiKey(text)).toBe(false);
  });

  test.each(["pets_", "pets_Demo", "pets_a-b", "_live", "pets__live"])(
    "is invalid with the prefix %s, even if the checksum is right",
    (malformed) => {
      expect(isApiKey(makeApiKey(malformed))).toBe(false);
    },
  );

  describe.each(Object.entries(issuedKeys))("that an earlier release issued (%s)", (_, issued) => {
    test("is valid", () => {
      expect(isApiKey(issued.key)).toBe(true);
    });

    test("has the hash under which that release stored it", () => {
      expect(hashApiKey(issued.key)).toBe(issued.hash);
    });
  });
});

describe("the record of an API key", () => {
  const whole = { keyHash: "0f", keyId: "key_1", name: "Acme", createdAt: 1 };

  const states: [state: string, times: { expiresAt?: number; revokedAt?: number }][] = [
    ["active", {}],
    ["active", { expiresAt: 101 }],
    ["expired", { expiresAt: 100 }],
    ["revoked", { revokedAt: 200 }],
    ["revoked", { expiresAt: 99, revokedAt: 98 }],
  ];

  test.each(states)("is %s with %j at second 100", (state, times) => {
    expect(apiKeyState(times, 100)).toBe(state);
  });

  test.each(states.map(([, times]) => times))("is valid with %j", (times) => {
    expect(isApiKeyRecord({ ...whole, ...times })).toBe(true);
  });

  test.each([
    { keyHash: 1 },
    { keyId: 1 },
    { name: 1 },
    { createdAt: "1" },
    { expiresAt: "1" },
    { expiresAt: null },
    { revokedAt: "1" },
    { revokedAt: null },
    { revokedAt: 1.5 },
  ])("is invalid with %j", (damage) => {
    expect(isApiKeyRecord({ ...whole, ...damage })).toBe(false);
  });
});
