import { describe, expect, test } from "vitest";
import { list } from "../../infra/admin/api-keys.ts";
import { hashApiKey } from "../../shared/api-keys.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { onEvery, respond } from "../helpers/faults/fault-proxy.ts";

const tables = await createTestTables();
const { target } = tables;
const now = 1_800_000_000;

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
    expect((await list(target, now, true)).json).toEqual([expect.objectContaining({ keyId: "key_1" })]);
  });

  test("begins with the oldest, whatever the order in the table and its pages, and of the same second with the smaller id", async () => {
    const ids = Array.from({ length: 24 }, (_, index) => `key_${String(index).padStart(2, "0")}`);
    for (const [index, keyId] of ids.entries()) {
      await tables.putKey({ keyId, createdAt: 1_700_000_000 + Math.floor(index / 2) });
    }
    const { target, proxy } = await tables.behindProxy(
      onEvery("Scan", async ({ forward, input, response }) =>
        respond(response, await forward(JSON.stringify({ ...JSON.parse(input), Limit: 10 }))),
      ),
    );
    expect((await list(target, now)).json).toEqual(ids.map((keyId) => expect.objectContaining({ keyId })));
    expect(proxy.attempts.get("Scan")).toBe(3);
  });

  test("escapes names that would control the terminal, and counts damaged records", async () => {
    await tables.putKey({ keyId: "key_1", createdAt: 1_700_000_000, name: "\u001b]0;owned\u0007\u009b31m\u202eemca" });
    await tables.putKey({ keyId: "key_2", createdAt: "yesterday" });
    const { text, json, note } = await list(target, now);
    expect(text).toContain(String.raw`\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}emca`);
    expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect(note).toBe("Skipped 1 damaged record: the service rejects such keys");
    expect(json).toEqual([expect.objectContaining({ name: "\u001b]0;owned\u0007\u009b31m\u202eemca" })]);
  });

  test("shows letters and emoji as they are, with what joins them", async () => {
    const names = ["\u{1f469}\u200d\u{1f467}", "\u0645\u06cc\u200c\u062e", "\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}"];
    for (const [at, name] of names.entries()) await tables.putKey({ keyId: `key_${at}`, createdAt: at, name });
    const { text } = await list(target, now);
    for (const name of names) expect(text).toContain(`  ${name}  `);
  });

  test("reads consistently, so that a key that was just revoked is shown as revoked", async () => {
    const consistent: unknown[] = [];
    const { target } = await tables.behindProxy(({ input }) => void consistent.push(JSON.parse(input).ConsistentRead));
    await list(target, now);
    expect(consistent).toEqual([true]);
  });

  test("says when there are none", async () => {
    expect(await list(target, now)).toEqual({ text: "No keys yet.", json: [] });
    expect(await list(target, now, true)).toEqual({ text: "No active keys.", json: [] });
  });
});
