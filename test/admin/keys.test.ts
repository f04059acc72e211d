import { describe, expect, test } from "vitest";
import { hashApiKey, isApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { createEngineProxy } from "../helpers/admin/engine-proxy.ts";
import { createLocalOperator } from "../helpers/admin/local-operator.ts";

const { tables, operator } = await createLocalOperator();

const local = (...args: string[]) => operator.run([...args, "--local"]);

/** Puts a key's record into the table and gives the key. */
async function putKey(keyId: string, times: Record<string, number>, name = "Acme"): Promise<string> {
  const key = makeApiKey("pets_test");
  const numbers = Object.entries(times).map(([field, seconds]) => [field, { N: String(seconds) }] as const);
  await tables.put("apiKeys", {
    keyHash: { S: hashApiKey(key) },
    keyId: { S: keyId },
    name: { S: name },
    ...Object.fromEntries(numbers),
  });
  return key;
}

describe("keys issue", () => {
  test("prints the key alone on stdout, and stores nothing but its hash", async () => {
    const { code, stdout, stderr } = await local(
      "keys",
      "issue",
      "--name",
      " Acme web shop ",
      "--expires",
      "2997-12-31",
    );
    const key = stdout.trim();
    expect(code).toBe(0);
    expect(stdout).toBe(`${key}\n`);
    expect(key).toMatch(/^pets_test_/);
    expect(isApiKey(key)).toBe(true);
    expect(stderr).not.toContain(key);
    const [item, ...others] = await tables.items("apiKeys");
    expect(others).toEqual([]);
    expect(item).toEqual({
      keyHash: { S: hashApiKey(key) },
      keyId: { S: expect.stringMatching(/^key_[0-9a-f]{16}$/) },
      name: { S: "Acme web shop" },
      createdAt: { N: expect.stringMatching(/^\d{10}$/) },
      expiresAt: { N: String(Date.parse("2997-12-31T23:59:59Z") / 1000) },
    });
    expect(stderr).toContain(item?.["keyId"]?.S);
  });

  test("with --json gives the key with its record, and never expires unless told to", async () => {
    const { code, stdout } = await local("keys", "issue", "--name", "Acme", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      key: expect.stringMatching(/^pets_test_/),
      keyId: expect.stringMatching(/^key_/),
      name: "Acme",
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      expiresAt: null,
      state: "active",
    });
  });

  test.each([
    ["--expires", "2026-02-30"],
    ["--expires", "2020-01-01"],
    ["--name", "\u001b[31mred"],
  ])("refuses %s %j as wrong use", async (option, value) => {
    const { code, stdout, stderr } = await local("keys", "issue", "--name", "Acme", option, value);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^error: /);
    expect(stderr).not.toContain("\u001b");
  });
});

describe("keys list", () => {
  test("shows every key with its state and never a key or its hash", async () => {
    const keys = [
      await putKey("key_1", { createdAt: 1_700_000_000 }),
      await putKey("key_2", { createdAt: 1_700_000_001, expiresAt: 1_700_000_002 }),
      await putKey("key_3", { createdAt: 1_700_000_003, revokedAt: 1_700_000_004 }),
    ];
    const shown = await local("keys", "list");
    expect(shown.code).toBe(0);
    expect(shown.stdout).toBe(
      [
        "KEY ID  NAME  CREATED               EXPIRES               STATE",
        "key_1   Acme  2023-11-14T22:13:20Z  never                 active",
        "key_2   Acme  2023-11-14T22:13:21Z  2023-11-14T22:13:22Z  expired",
        "key_3   Acme  2023-11-14T22:13:23Z  never                 revoked",
        "",
      ].join("\n"),
    );
    const { stdout } = await local("keys", "list", "--json");
    expect(JSON.parse(stdout)).toEqual([
      { keyId: "key_1", name: "Acme", createdAt: "2023-11-14T22:13:20Z", expiresAt: null, state: "active" },
      {
        keyId: "key_2",
        name: "Acme",
        createdAt: "2023-11-14T22:13:21Z",
        expiresAt: "2023-11-14T22:13:22Z",
        state: "expired",
      },
      { keyId: "key_3", name: "Acme", createdAt: "2023-11-14T22:13:23Z", expiresAt: null, state: "revoked" },
    ]);
    for (const secret of keys.flatMap((key) => [key, hashApiKey(key)])) {
      expect(shown.stdout + shown.stderr + stdout).not.toContain(secret);
    }
  });

  test("lets no stored name steer the terminal, and says when rows are no keys", async () => {
    await putKey("key_1", { createdAt: 1_700_000_000 }, "\u001b]0;owned\u0007\u009b31m\u202eemca");
    await tables.put("apiKeys", { keyHash: { S: "0" }, keyId: { S: "key_2" }, createdAt: { S: "yesterday" } });
    const { stdout, stderr } = await local("keys", "list");
    expect(stdout).toContain(String.raw`\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}emca`);
    expect(stdout).not.toMatch(/[^\P{C}\n]/u);
    expect(stderr).toContain("1 row");
    const json = await local("keys", "list", "--json");
    expect(json.stdout).not.toMatch(/[^\P{C}\n]/u);
    expect(JSON.parse(json.stdout)).toEqual([
      expect.objectContaining({ name: "\u001b]0;owned\u0007\u009b31m\u202eemca" }),
    ]);
  });
});

describe("keys revoke", () => {
  test("revokes once, says how long caches may still admit the key, and then that it is revoked", async () => {
    await putKey("key_1", { createdAt: 1_700_000_000 });
    const first = await local("keys", "revoke", "key_1");
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("for up to 10 seconds") });
    const [before] = await tables.items("apiKeys");
    expect(before?.["revokedAt"]?.N).toMatch(/^\d{10}$/);
    expect(await local("keys", "revoke", "key_1")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^The key key_1 has been revoked already, at .*Z\n$/),
    });
    expect(await tables.items("apiKeys")).toEqual([before]);
  });

  test("knows no other id", async () => {
    await putKey("key_1", { createdAt: 1_700_000_000 });
    expect(await local("keys", "revoke", "key_2", "--json")).toEqual({
      code: 1,
      stdout: "",
      stderr: "No key has the id key_2\n",
    });
  });

  test("takes a lost answer for what it was: done", async () => {
    await putKey("key_1", { createdAt: 1_700_000_000 });
    let updates = 0;
    const proxy = await createEngineProxy(tables.dynamodbEndpoint, (operation) =>
      operation === "UpdateItem" && ++updates === 1 ? "lose the answer" : "pass",
    );
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const { code, stdout } = await local("keys", "revoke", "key_1", "--json");
    await proxy.stop();
    expect(updates).toBe(2);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ keyId: "key_1", state: "revoked", admittedForAtMostSeconds: 10 });
  });

  test("never repeats a key that was given in an id's place", async () => {
    const key = makeApiKey("pets_test");
    for (const args of [["revoke", key], ["revoke", `${key}x`], [key]]) {
      const { code, stdout, stderr } = await local("keys", ...args);
      expect(code).toBeGreaterThan(0);
      expect(stderr).not.toBe("");
      expect(stdout + stderr).not.toContain(key);
    }
  });
});

describe("keys check", () => {
  const check = (key: string, ...args: string[]) => operator.run(["keys", "check", "--local", ...args], { input: key });

  test("admits an active key", async () => {
    const key = await putKey("key_1", { createdAt: 1_700_000_000 });
    expect(await check(`  ${key}\r\n`)).toEqual({ code: 0, stdout: "Admitted: key_1 (Acme)\n", stderr: "" });
  });

  test("says why it admits no other, and never repeats it", async () => {
    const why: [string, string][] = [
      ["", "it is no key: its form or its checksum is wrong"],
      [`${makeApiKey("pets_test").slice(0, -1)}!`, "it is no key: its form or its checksum is wrong"],
      [makeApiKey("pets_live"), "keys of this environment start with pets_test_"],
      [makeApiKey("pets_test"), "no such key was issued here"],
      [await putKey("key_1", { createdAt: 1, expiresAt: 1_700_000_000 }), "it expired at 2023-11-14T22:13:20Z"],
      [await putKey("key_2", { createdAt: 1, revokedAt: 1_700_000_000 }), "it was revoked at 2023-11-14T22:13:20Z"],
      [await putKey("key_3", { createdAt: 0.5 }), "its record is damaged"],
    ];
    for (const [key, reason] of why) {
      const { code, stdout, stderr } = await check(key, "--json");
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ admitted: false, reason });
      if (key !== "") expect(stdout + stderr).not.toContain(key);
    }
  });
});
