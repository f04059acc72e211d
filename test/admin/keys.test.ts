import { describe, expect, test } from "vitest";
import { check, issue, list, revoke } from "../../infra/admin/api-keys.ts";
import { hashApiKey, isApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { justBefore, onEvery, respond } from "../helpers/faults/fault-proxy.ts";
import { createTestTables } from "../helpers/test-tables.ts";

const tables = await createTestTables();
const { target } = tables;
const now = 1_800_000_000;

describe("issuing", () => {
  /** Issues a key, and gives the item that is then its table's only one. */
  const issueToAcme = async () => {
    const { text: key = "", json, note } = await issue(target, "Acme", now + 60, now);
    const [item, ...others] = await tables.items("apiKeys");
    expect(others).toEqual([]);
    return { key, json, note, item, keyId: item?.["keyId"]?.S };
  };

  test("prints a key of the environment", async () => {
    const { key } = await issueToAcme();
    expect(key).toMatch(/^pets_test_/);
    expect(isApiKey(key)).toBe(true);
  });

  test("prints the key and what is known of it as JSON", async () => {
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
  const putUnrevoked = async () => {
    await tables.putKey({
      keyId: "key_1",
      createdAt: 1_700_000_000,
      expiresAt: now + 3600,
      tier: "gold",
    });
    const [before] = await tables.items("apiKeys");
    return [{ ...before, revokedAt: { N: String(now) } }];
  };

  test("sets the time of the revocation, and nothing else", async () => {
    const after = await putUnrevoked();
    await revoke(target, "key_1", now);
    expect(await tables.items("apiKeys")).toEqual(after);
  });

  test("says how long caches may still accept the key", async () => {
    await putUnrevoked();
    const { text, json } = await revoke(target, "key_1", now);
    expect(text).toBe(
      "Revoked key_1 (test). The gateway's cache may still accept it for up to 15 seconds.",
    );
    expect(json).toMatchObject({ keyId: "key_1", state: "revoked", acceptedForUpToSeconds: 15 });
  });

  test("happens once", async () => {
    const after = await putUnrevoked();
    await revoke(target, "key_1", now);
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
  describe("of keys in every state", () => {
    const putKeys = () =>
      Promise.all([
        tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000 }),
        tables.putKey({ keyId: "key_2", createdAt: 1_700_000_001, expiresAt: 1_700_000_002 }),
        tables.putKey({ keyId: "key_3", createdAt: 1_700_000_003, revokedAt: 1_700_000_004 }),
      ]);

    test("shows each with its state", async () => {
      await putKeys();
      const { text, note } = await list(target, now);
      expect(text).toBe(
        [
          "KEY ID  NAME  CREATED               EXPIRES               REVOKED               STATE",
          "key_1   test  2023-11-14T22:13:20Z  never                 never                 active",
          "key_2   test  2023-11-14T22:13:21Z  2023-11-14T22:13:22Z  never                 expired",
          "key_3   test  2023-11-14T22:13:23Z  never                 2023-11-14T22:13:24Z  revoked",
        ].join("\n"),
      );
      expect(note).toBeUndefined();
    });

    test("gives each with its state as JSON", async () => {
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

    test("can be of the active ones only", async () => {
      await putKeys();
      expect((await list(target, now, true)).json).toEqual([
        expect.objectContaining({ keyId: "key_1" }),
      ]);
    });
  });

  const ids = Array.from({ length: 24 }, (_, index) => `key_${String(index).padStart(2, "0")}`);
  const listPages = async () => {
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
    return { consistent, json: (await list(target, now)).json };
  };

  test("reads every page consistently", async () => {
    expect((await listPages()).consistent).toEqual([true, true, true]);
  });

  test("begins with the oldest, of the same second with the smaller id", async () => {
    const { json } = await listPages();
    expect(json).toEqual(ids.map((keyId) => expect.objectContaining({ keyId })));
  });

  test("escapes names that would control the terminal", async () => {
    const name = "\u001b]0;owned\u0007\u009b31m\u202eemca";
    await tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000, name });
    const { text, json } = await list(target, now);
    expect(text).toContain(String.raw`\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}emca`);
    expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect(json).toEqual([expect.objectContaining({ name })]);
  });

  test("shows a time that no calendar has in seconds", async () => {
    const revokedAt = Number.MAX_SAFE_INTEGER;
    await tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000, revokedAt });
    expect((await list(target, now)).text).toContain("9007199254740991 s after 1970");
  });

  test("counts damaged records instead of showing them", async () => {
    await tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000 });
    await tables.putKey({ keyId: "key_2", createdAt: "yesterday" });
    const { json, note } = await list(target, now);
    expect(note).toBe("Skipped 1 damaged record: the service rejects such keys");
    expect(json).toEqual([expect.objectContaining({ keyId: "key_1" })]);
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

  describe("a key whose name could control the terminal", () => {
    const putNamed = () =>
      tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000, name: "\u001b[2J" });

    test("prints harmless text", async () => {
      const key = await putNamed();
      const { text } = await check(target, key, now);
      expect(text).toBe(String.raw`Accepted: key_1 (\u{1b}[2J)`);
    });

    test("prints harmless text when it is revoked", async () => {
      await putNamed();
      const { text } = await revoke(target, "key_1", now);
      expect(text).toContain(String.raw`Revoked key_1 (\u{1b}[2J).`);
    });
  });

  test("rejects an empty key as malformed", async () => {
    const { text, json, rejected } = await check(target, "", now);
    expect({ text, json, rejected }).toEqual({
      text: "Rejected: malformed or mistyped",
      json: { accepted: false, reason: "malformed or mistyped", keyId: null },
      rejected: true,
    });
  });

  const expired = { keyId: "key_1", createdAt: 1, expiresAt: 1_700_000_000 };
  const revoked = { keyId: "key_2", createdAt: 1, revokedAt: 1_700_000_000 };
  const mistyped = `${makeApiKey("pets_test").slice(0, -1)}!`;
  const otherPrefix = "keys for this environment start with pets_test_";
  const unknown = makeApiKey("pets_test");
  const damaged = { keyId: "key_3", createdAt: 0.5 };
  describe.each<[string, () => string | Promise<string>, string, string?]>([
    ["a mistyped key", () => mistyped, "malformed or mistyped"],
    ["another environment's key", () => makeApiKey("pets_live"), otherPrefix],
    ["an unknown key", () => unknown, "no such key was issued here"],
    ["an expired key", () => tables.putKey(expired), "expired at 2023-11-14T22:13:20Z", "key_1"],
    ["a revoked key", () => tables.putKey(revoked), "revoked at 2023-11-14T22:13:20Z", "key_2"],
    ["a key whose record is damaged", () => tables.putKey(damaged), "its record is damaged"],
  ])("%s", (_, put, reason, keyId) => {
    test("is rejected with the reason", async () => {
      const { text, json, rejected } = await check(target, await put(), now);
      expect({ text, json, rejected }).toEqual({
        text: `Rejected: ${reason}${keyId ? ` (${keyId})` : ""}`,
        json: { accepted: false, reason, keyId: keyId ?? null },
        rejected: true,
      });
    });

    test("is never repeated", async () => {
      const key = await put();
      const { text, json } = await check(target, key, now);
      expect(text + JSON.stringify(json)).not.toContain(key);
    });
  });
});
