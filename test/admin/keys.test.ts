import { describe, expect, test } from "vitest";
import { check, issue, revoke } from "../../infra/admin/api-keys.ts";
import { hashApiKey, isApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { justBefore, onFirst } from "../helpers/faults/fault-proxy.ts";
import { unapplied } from "../helpers/faults/faults.ts";

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
  test("happens once, and says how long caches may still accept the key", async () => {
    await tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000 });
    const { text, json } = await revoke(target, "key_1", now);
    expect(text).toBe("Revoked key_1 (test). The gateway's cache may still accept it for up to 15 seconds.");
    expect(json).toMatchObject({ keyId: "key_1", state: "revoked", acceptedForUpToSeconds: 15 });
    const before = await tables.items("apiKeys");
    expect(before).toEqual([expect.objectContaining({ revokedAt: { N: String(now) } })]);
    await expect(revoke(target, "key_1", now + 1)).rejects.toThrow(
      "Key key_1 was already revoked at 2027-01-15T08:00:00Z",
    );
    expect(await tables.items("apiKeys")).toEqual(before);
  });

  test("changes nothing else of the key", async () => {
    const whole = { keyId: "key_1", name: "Acme", createdAt: 1_700_000_000, expiresAt: now + 3600, tier: "gold" };
    await tables.putKey(whole);
    const [before] = await tables.items("apiKeys");
    await revoke(target, "key_1", now);
    expect(await tables.items("apiKeys")).toEqual([{ ...before, revokedAt: { N: String(now) } }]);
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

  test("says so when another operator was first, even at a later attempt", async () => {
    await tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000 });
    const { target } = await tables.behindProxy(
      onFirst("UpdateItem", async (exchange) => {
        await revoke(tables.target, "key_1", now - 60);
        unapplied["500 of the service"](exchange);
      }),
    );
    await expect(revoke(target, "key_1", now)).rejects.toThrow("Key key_1 was already revoked at 2027-01-15T07:59:00Z");
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
    const key = await tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000, name: "\u001b[2J" });
    expect((await check(target, key, now)).text).toBe(String.raw`Accepted: key_1 (\u{1b}[2J)`);
    expect((await revoke(target, "key_1", now)).text).toContain(String.raw`Revoked key_1 (\u{1b}[2J).`);
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
      expect({ json, rejected }).toEqual({ json: { accepted: false, reason, keyId: keyId ?? null }, rejected: true });
      expect(text).toBe(`Rejected: ${reason}${keyId ? ` (${keyId})` : ""}`);
      if (key !== "") expect(text + JSON.stringify(json)).not.toContain(key);
    }
  });
});
