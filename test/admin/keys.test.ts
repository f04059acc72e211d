import { describe, expect, test } from "vitest";
import { check, issue, list, revoke } from "../../infra/admin/api-keys.ts";
import { hashApiKey, isApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { justBefore, onEvery, respond } from "../helpers/faults/fault-proxy.ts";
import { createTestTables } from "../helpers/test-tables.ts";

const tables = await createTestTables();
const { target } = tables;
const now = 1_800_000_000;

describe("issuing", () => {
  test("gives the key once and stores nothing but its hash", async () => {
    const { text: key = "", json, note } = await issue(target, "Acme", now + 60, now);
    expect(key).toMatch(/^pets_test_/);
    expect(isApiKey(key)).toBe(true);
    const [item, ...others] = await tables.items("apiKeys");
    expect(others).toEqual([]);
    expect(item).toEqual({
      keyHash: { S: hashApiKey(key) },
      keyId: { S: expect.stringMatching(/^key_[0-9a-f]{16}$/) },
      name: { S: "Acme" },
      createdAt: { N: String(now) },
      expiresAt: { N: String(now + 60) },
    });
    const keyId = item?.["keyId"]?.S;
    expect(note).toBe(
      `Issued ${keyId} to Acme; it expires at 2027-01-15T08:01:00Z. Save the key now: it can't be shown again.`,
    );
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
});

describe("revoking", () => {
  test("happens once, changes nothing else, and says how long caches may still accept the key", async () => {
    await tables.putKey({
      keyId: "key_1",
      createdAt: 1_700_000_000,
      expiresAt: now + 3600,
      tier: "gold",
    });
    const [before] = await tables.items("apiKeys");
    const { text, json } = await revoke(target, "key_1", now);
    expect(text).toBe(
      "Revoked key_1 (test). The gateway's cache may still accept it for up to 15 seconds.",
    );
    expect(json).toMatchObject({ keyId: "key_1", state: "revoked", acceptedForUpToSeconds: 15 });
    const after = [{ ...before, revokedAt: { N: String(now) } }];
    expect(await tables.items("apiKeys")).toEqual(after);
    await expect(revoke(target, "key_1", now + 1)).rejects.toThrow(
      "Key key_1 was already revoked at 2027-01-15T08:00:00Z",
    );
    expect(await tables.items("apiKeys")).toEqual(after);
  });

  test("does not create a key again that was deleted meanwhile", async () => {
    await tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000 });
    const { target } = await tables.behindProxy(justBefore("UpdateItem", tables.empty));
    await expect(revoke(target, "key_1", now)).rejects.toThrow("No key has the id key_1");
    expect(await tables.items("apiKeys")).toEqual([]);
  });

  test("fails for an unknown id", async () => {
    await tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000 });
    await expect(revoke(target, "key_2", now)).rejects.toThrow("No key has the id key_2");
  });
});

describe("listing", () => {
  test("shows every key with its state, and never a key or its hash", async () => {
    const keys = [
      await tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000 }),
      await tables.putKey({ keyId: "key_2", createdAt: 1_700_000_001, expiresAt: 1_700_000_002 }),
      await tables.putKey({ keyId: "key_3", createdAt: 1_700_000_003, revokedAt: 1_700_000_004 }),
    ];
    const { text, json, note } = await list(target, now);
    expect(text).toBe(
      [
        "KEY ID  NAME  CREATED               EXPIRES               REVOKED               STATE",
        "key_1   test  2023-11-14T22:13:20Z  never                 never                 active",
        "key_2   test  2023-11-14T22:13:21Z  2023-11-14T22:13:22Z  never                 expired",
        "key_3   test  2023-11-14T22:13:23Z  never                 2023-11-14T22:13:24Z  revoked",
      ].join("\n"),
    );
    expect(note).toBeUndefined();
    const [active, expired, revoked] = Array.isArray(json) ? json : [];
    expect(active).toEqual({
      keyId: "key_1",
      name: "test",
      createdAt: "2023-11-14T22:13:20Z",
      expiresAt: null,
      revokedAt: null,
      state: "active",
    });
    expect(expired).toMatchObject({ expiresAt: "2023-11-14T22:13:22Z", state: "expired" });
    expect(revoked).toMatchObject({ revokedAt: "2023-11-14T22:13:24Z", state: "revoked" });
    for (const secret of keys.flatMap((key) => [key, hashApiKey(key)])) {
      expect(text + JSON.stringify(json)).not.toContain(secret);
    }
    expect((await list(target, now, true)).json).toEqual([
      expect.objectContaining({ keyId: "key_1" }),
    ]);
  });

  test("reads every page consistently, and begins with the oldest, of the same second with the smaller id", async () => {
    const ids = Array.from({ length: 24 }, (_, index) => `key_${String(index).padStart(2, "0")}`);
    for (const [index, keyId] of ids.entries()) {
      await tables.putKey({ keyId, createdAt: 1_700_000_000 + Math.floor(index / 2) });
    }
    const consistent: unknown[] = [];
    const { target } = await tables.behindProxy(
      onEvery("Scan", async ({ forward, input, response }) => {
        consistent.push(JSON.parse(input).ConsistentRead);
        respond(response, await forward(JSON.stringify({ ...JSON.parse(input), Limit: 10 })));
      }),
    );
    expect((await list(target, now)).json).toEqual(
      ids.map((keyId) => expect.objectContaining({ keyId })),
    );
    expect(consistent).toEqual([true, true, true]);
  });

  test("escapes names that would control the terminal, and counts damaged records", async () => {
    const name = "\u001b]0;owned\u0007\u009b31m\u202eemca";
    await tables.putKey({
      keyId: "key_1",
      createdAt: 1_700_000_000,
      name,
      revokedAt: Number.MAX_SAFE_INTEGER,
    });
    await tables.putKey({ keyId: "key_2", createdAt: "yesterday" });
    const { text, json, note } = await list(target, now);
    expect(text).toContain(String.raw`\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}emca`);
    expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect(text).toContain("9007199254740991 s after 1970");
    expect(note).toBe("Skipped 1 damaged record: the service rejects such keys");
    expect(json).toEqual([expect.objectContaining({ name })]);
  });

  test("says when there are none", async () => {
    expect(await list(target, now)).toEqual({ text: "No keys yet.", json: [] });
    expect(await list(target, now, true)).toEqual({ text: "No active keys.", json: [] });
  });
});

describe("checking", () => {
  test("accepts an active key", async () => {
    const key = await tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000 });
    expect(await check(target, key, now)).toMatchObject({
      text: "Accepted: key_1 (test)",
      json: { accepted: true, keyId: "key_1" },
    });
  });

  test("like revoking, prints a name that could control the terminal as harmless text", async () => {
    const key = await tables.putKey({
      keyId: "key_1",
      createdAt: 1_700_000_000,
      name: "\u001b[2J",
    });
    expect((await check(target, key, now)).text).toBe(String.raw`Accepted: key_1 (\u{1b}[2J)`);
    expect((await revoke(target, "key_1", now)).text).toContain(
      String.raw`Revoked key_1 (\u{1b}[2J).`,
    );
  });

  test("says why it rejects any other, and never repeats it", async () => {
    const rejected: [string, string, string?][] = [
      ["", "malformed or mistyped"],
      [`${makeApiKey("pets_test").slice(0, -1)}!`, "malformed or mistyped"],
      [makeApiKey("pets_live"), "keys for this environment start with pets_test_"],
      [makeApiKey("pets_test"), "no such key was issued here"],
      [
        await tables.putKey({ keyId: "key_1", createdAt: 1, expiresAt: 1_700_000_000 }),
        "expired at 2023-11-14T22:13:20Z",
        "key_1",
      ],
      [
        await tables.putKey({ keyId: "key_2", createdAt: 1, revokedAt: 1_700_000_000 }),
        "revoked at 2023-11-14T22:13:20Z",
        "key_2",
      ],
      [await tables.putKey({ keyId: "key_3", createdAt: 0.5 }), "its record is damaged"],
    ];
    for (const [key, reason, keyId] of rejected) {
      const { text, json, rejected } = await check(target, key, now);
      expect({ json, rejected }).toEqual({
        json: { accepted: false, reason, keyId: keyId ?? null },
        rejected: true,
      });
      expect(text).toBe(`Rejected: ${reason}${keyId ? ` (${keyId})` : ""}`);
      if (key !== "") expect(text + JSON.stringify(json)).not.toContain(key);
    }
  });
});
