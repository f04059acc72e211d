import { describe, expect, test } from "vitest";
import { check, issue, list, revoke } from "../../infra/admin/api-keys.ts";
import { hashApiKey, isApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { justBefore, onEvery, respond } from "../helpers/faults/fault-proxy.ts";
import { createTestTables } from "../helpers/test-tables.ts";

const tables = await createTestTables();
const { target } = tables;
const now = 1_800_000_000; // 2027-01-15T08:00:00Z
const createdAt = 1_700_000_000; // 2023-11-14T22:13:20Z
const terminalCodes = "\u001b]0;owned\u0007\u009b31m\u202eemca";
const escapedCodes = String.raw`\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}emca`;

describe("issuing", () => {
  /** Issues a key. Returns it with the only item of the table. */
  const issueToAcme = async () => {
    const { text: key = "", json, note } = await issue(target, "Acme", now + 60, now);
    const [item, ...others] = await tables.items("apiKeys");
    expect(others).toEqual([]);
    return { key, json, note, item, keyId: item?.["keyId"]?.S };
  };

  test("prints a key with the environment's prefix", async () => {
    const { key } = await issueToAcme();
    expect(key).toMatch(/^pets_test_/);
    expect(isApiKey(key)).toBe(true);
  });

  test("prints the key and its record as JSON", async () => {
    const { key, keyId, json } = await issueToAcme();
    expect(json).toEqual({
      key,
      keyId,
      name: "Acme",
      createdAt: "2027-01-15T08:00:00Z",
      expiresAt: "2027-01-15T08:01:00Z",
      revokedAt: null,
      state: "active",
    });
  });

  test("stores nothing of the key but its hash", async () => {
    const { key, item } = await issueToAcme();
    expect(item).toEqual({
      keyHash: { S: hashApiKey(key) },
      keyId: { S: expect.stringMatching(/^key_[0-9a-f]{16}$/) },
      name: { S: "Acme" },
      createdAt: { N: String(now) },
      expiresAt: { N: String(now + 60) },
    });
  });

  test("says that the key can't be shown again", async () => {
    const { keyId, note } = await issueToAcme();
    expect(note).toBe(
      `Issued ${keyId} to Acme; it expires at 2027-01-15T08:01:00Z. ` +
        "Save the key now: it can't be shown again.",
    );
  });
});

describe("revoking", () => {
  const putActiveKey = async () => {
    await tables.putKey({ keyId: "key_1", createdAt, expiresAt: now + 3600, tier: "gold" });
    const [item] = await tables.items("apiKeys");
    return item;
  };

  test("sets the time of the revocation, and nothing else", async () => {
    const before = await putActiveKey();
    await revoke(target, "key_1", now);
    expect(await tables.items("apiKeys")).toEqual([{ ...before, revokedAt: { N: String(now) } }]);
  });

  test("says how long caches may still accept the key", async () => {
    await putActiveKey();
    const { text, json } = await revoke(target, "key_1", now);
    expect(text).toBe(
      "Revoked key_1 (test). The gateway's cache may still accept it for up to 15 seconds.",
    );
    expect(json).toMatchObject({ keyId: "key_1", state: "revoked", acceptedForUpToSeconds: 15 });
  });

  test("fails for a key that is already revoked", async () => {
    await putActiveKey();
    await revoke(target, "key_1", now);
    await expect(revoke(target, "key_1", now + 1)).rejects.toThrow(
      "Key key_1 was already revoked at 2027-01-15T08:00:00Z",
    );
  });

  test("keeps the time of the first revocation", async () => {
    await putActiveKey();
    await revoke(target, "key_1", now);
    await expect(revoke(target, "key_1", now + 1)).rejects.toThrow();
    expect(await tables.items("apiKeys")).toMatchObject([{ revokedAt: { N: String(now) } }]);
  });

  test("does not recreate a key that was deleted in the meantime", async () => {
    await putActiveKey();
    const { target: proxied } = await tables.behindProxy(justBefore("UpdateItem", tables.empty));
    await expect(revoke(proxied, "key_1", now)).rejects.toThrow("No key has the id key_1");
    expect(await tables.items("apiKeys")).toEqual([]);
  });

  test("escapes a name that could control the terminal", async () => {
    await tables.putKey({ keyId: "key_1", createdAt, name: terminalCodes });
    const { text } = await revoke(target, "key_1", now);
    expect(text).toContain(`Revoked key_1 (${escapedCodes}).`);
  });

  test("fails for an unknown id", async () => {
    await putActiveKey();
    await expect(revoke(target, "key_2", now)).rejects.toThrow("No key has the id key_2");
  });
});

describe("listing", () => {
  describe("of keys in every state", () => {
    const putKeys = () =>
      Promise.all([
        tables.putKey({ keyId: "key_1", createdAt }),
        tables.putKey({ keyId: "key_2", createdAt: createdAt + 1, expiresAt: createdAt + 2 }),
        tables.putKey({ keyId: "key_3", createdAt: createdAt + 3, revokedAt: createdAt + 4 }),
      ]);

    test("shows each with its state", async () => {
      await putKeys();
      const { text, note } = await list(target, now);
      expect(text).toBe(
        [
          "KEY ID  NAME  CREATED AT            EXPIRES AT            REVOKED AT            STATE",
          "key_1   test  2023-11-14T22:13:20Z  never                 never                 active",
          "key_2   test  2023-11-14T22:13:21Z  2023-11-14T22:13:22Z  never                 expired",
          "key_3   test  2023-11-14T22:13:23Z  never                 2023-11-14T22:13:24Z  revoked",
        ].join("\n"),
      );
      expect(note).toBeUndefined();
    });

    test("prints each with its state as JSON", async () => {
      await putKeys();
      expect((await list(target, now)).json).toEqual([
        {
          keyId: "key_1",
          name: "test",
          createdAt: "2023-11-14T22:13:20Z",
          expiresAt: null,
          revokedAt: null,
          state: "active",
        },
        expect.objectContaining({ expiresAt: "2023-11-14T22:13:22Z", state: "expired" }),
        expect.objectContaining({ revokedAt: "2023-11-14T22:13:24Z", state: "revoked" }),
      ]);
    });

    test("shows no key and no hash", async () => {
      const keys = await putKeys();
      const { text, json } = await list(target, now);
      for (const secret of keys.flatMap((key) => [key, hashApiKey(key)])) {
        expect(text + JSON.stringify(json)).not.toContain(secret);
      }
    });

    test("can be limited to active keys", async () => {
      await putKeys();
      const { json } = await list(target, now, true);
      expect(json).toEqual([expect.objectContaining({ keyId: "key_1" })]);
    });
  });

  // Two keys of each second, the smaller id first. The later second has smaller ids.
  const keys = Array.from({ length: 24 }, (_, index) => {
    const second = Math.floor(index / 2);
    return { keyId: `key_${50 - 2 * second + (index % 2)}`, createdAt: createdAt + second };
  });
  /** Lists the keys from pages of ten. */
  const listPages = async () => {
    for (const key of keys) await tables.putKey(key);
    const consistent: unknown[] = [];
    const { target: proxied } = await tables.behindProxy(
      onEvery("Scan", async ({ forward, input, response }) => {
        const scan = JSON.parse(input);
        consistent.push(scan.ConsistentRead);
        respond(response, await forward(JSON.stringify({ ...scan, Limit: 10 })));
      }),
    );
    const { json } = await list(proxied, now);
    return { consistent, json };
  };

  test("reads every page consistently", async () => {
    expect((await listPages()).consistent).toEqual([true, true, true]);
  });

  test("sorts keys by creation time, then by id", async () => {
    const { json } = await listPages();
    expect(json).toEqual(keys.map(({ keyId }) => expect.objectContaining({ keyId })));
  });

  test("escapes names that could control the terminal", async () => {
    await tables.putKey({ keyId: "key_1", createdAt, name: terminalCodes });
    const { text } = await list(target, now);
    expect(text).toContain(escapedCodes);
    expect(text?.replaceAll("\n", "")).not.toMatch(/\p{C}/u);
  });

  test("leaves names unescaped in JSON", async () => {
    await tables.putKey({ keyId: "key_1", createdAt, name: terminalCodes });
    const { json } = await list(target, now);
    expect(json).toEqual([expect.objectContaining({ name: terminalCodes })]);
  });

  test("shows a time beyond the calendar as seconds since 1970", async () => {
    const revokedAt = Number.MAX_SAFE_INTEGER;
    await tables.putKey({ keyId: "key_1", createdAt, revokedAt });
    expect((await list(target, now)).text).toContain("9007199254740991 s after 1970");
  });

  test("counts damaged records instead of showing them", async () => {
    await tables.putKey({ keyId: "key_1", createdAt });
    await tables.putKey({ keyId: "key_2", createdAt: "yesterday" });
    const { json, note } = await list(target, now);
    expect(note).toBe("Skipped 1 damaged record: the service rejects such keys");
    expect(json).toEqual([expect.objectContaining({ keyId: "key_1" })]);
  });

  test.each([
    ["keys", false, "No keys yet."],
    ["active keys", true, "No active keys."],
  ])("says when there are no %s", async (_, onlyActive, text) => {
    expect(await list(target, now, onlyActive)).toEqual({ text, json: [] });
  });
});

describe("checking", () => {
  test("accepts an active key", async () => {
    const key = await tables.putKey({ keyId: "key_1", createdAt });
    expect(await check(target, key, now)).toMatchObject({
      text: "Accepted: key_1 (test)",
      json: { accepted: true, keyId: "key_1" },
    });
  });

  test("escapes a name that could control the terminal", async () => {
    const key = await tables.putKey({ keyId: "key_1", createdAt, name: terminalCodes });
    const { text } = await check(target, key, now);
    expect(text).toBe(`Accepted: key_1 (${escapedCodes})`);
  });

  test("rejects an empty key as malformed", async () => {
    const { text, json, rejected } = await check(target, "", now);
    expect({ text, json, rejected }).toEqual({
      text: "Rejected: malformed or mistyped",
      json: { accepted: false, reason: "malformed or mistyped", keyId: null },
      rejected: true,
    });
  });

  describe.each([
    {
      what: "a mistyped key",
      makeKey: async () => `${makeApiKey("pets_test").slice(0, -1)}!`,
      reason: "malformed or mistyped",
    },
    {
      what: "another environment's key",
      makeKey: async () => makeApiKey("pets_live"),
      reason: "keys for this environment start with pets_test_",
    },
    {
      what: "an unknown key",
      makeKey: async () => makeApiKey("pets_test"),
      reason: "no such key was issued here",
    },
    {
      what: "an expired key",
      makeKey: () => tables.putKey({ keyId: "key_1", createdAt: 1, expiresAt: createdAt }),
      reason: "expired at 2023-11-14T22:13:20Z",
      keyId: "key_1",
    },
    {
      what: "a revoked key",
      makeKey: () => tables.putKey({ keyId: "key_2", createdAt: 1, revokedAt: createdAt }),
      reason: "revoked at 2023-11-14T22:13:20Z",
      keyId: "key_2",
    },
    {
      what: "a key whose record is damaged",
      makeKey: () => tables.putKey({ keyId: "key_3", createdAt: 0.5 }),
      reason: "its record is damaged",
    },
  ])("$what", ({ makeKey, reason, keyId }) => {
    test("rejects it with the reason", async () => {
      const { text, json, rejected } = await check(target, await makeKey(), now);
      expect(text).toBe(keyId ? `Rejected: ${reason} (${keyId})` : `Rejected: ${reason}`);
      expect(json).toEqual({ accepted: false, reason, keyId: keyId ?? null });
      expect(rejected).toBe(true);
    });

    test("never prints the key", async () => {
      const key = await makeKey();
      const { text, json } = await check(target, key, now);
      expect(text + JSON.stringify(json)).not.toContain(key);
    });
  });
});
