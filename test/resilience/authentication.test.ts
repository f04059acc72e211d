import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { hashApiKey, isApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { errorBody } from "../../shared/errors.ts";
import { anyText } from "../helpers/any-text.ts";
import type { EngineCall } from "../helpers/faults/fault-proxy.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";
import { exchange } from "../helpers/faults/pipeline.ts";

let now = Date.parse("2026-11-20T12:00:00Z");
let stack: FaultyStack;
beforeAll(async () => {
  const count = ({ operation, attempt, input }: EngineCall): undefined => {
    if (operation === "GetItem" && attempt === 1 && !input.includes(hashApiKey(""))) keysRead += 1;
  };
  stack = await startFaultyStack(count, { clock: { now: () => now } });
});
afterAll(() => stack?.stop());

/** How many keys the authorizer has read, apart from the empty string that it reads at start. */
let keysRead = 0;
const reads = (): number => keysRead;

/** Sends a DELETE of no order with each Authorization header (undefined: none), and resolves with the statuses. */
async function admit(...authorizations: (string | undefined)[]): Promise<number[]> {
  const requests = authorizations.map((value, index) => {
    const header = value === undefined ? "" : `Authorization: ${value}\r\n`;
    const close = index === authorizations.length - 1 ? "Connection: close\r\n" : "";
    return `DELETE /v1/store/orders/none HTTP/1.1\r\nHost: localhost\r\n${header}${close}\r\n`;
  });
  const { responses, rest } = await exchange(Number(new URL(stack.baseUrl).port), requests.join(""));
  expect([rest, responses.length]).toEqual(["", authorizations.length]);
  for (const { body } of responses.filter(({ status }) => status === 401)) expect(body).toBe(errorBody("unauthorized"));
  return responses.map(({ status }) => status);
}

describe("a request is rejected with 401", () => {
  test("when any one character of a valid key is changed, added or removed, and costs no read", async () => {
    const key = stack.apiKey;
    const printable = Array.from({ length: 94 }, (_, code) => String.fromCharCode(code + 33));
    const changed = [...key].flatMap((old, index) =>
      printable
        // An eighth of them in each place; every one of them in every eighth.
        .filter((other, code) => other !== old && code % 8 === index % 8)
        .map((other) => key.slice(0, index) + other + key.slice(index + 1)),
    );
    const added = [...key, ""].map((_, index) => `${key.slice(0, index)}a${key.slice(index)}`);
    const removed = [...key].map((_, index) => key.slice(0, index) + key.slice(index + 1));
    const swapped = [...key].map(
      (character, index) => key.slice(0, index) + (key[index + 1] ?? "") + character + key.slice(index + 2),
    );
    const mutants = [...changed, ...added, ...removed, ...swapped].filter((mutant) => mutant !== key);
    const before = reads();
    const statuses = await admit(...mutants.map((mutant) => `Bearer ${mutant}`));
    expect(mutants.length).toBeGreaterThan(800);
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(reads()).toBe(before);
  });

  test("when letters after its prefix change case, and costs no read", async () => {
    const prefix = "pets_test_".length;
    const cases = [...stack.apiKey.slice(prefix)].map((letter) => [letter.toLowerCase(), letter.toUpperCase()]);
    const others = fc.tuple(...cases.map((both) => fc.constantFrom(...both)));
    const mutants = fc
      .sample(others, { numRuns: 100, seed: 1 })
      .map((characters) => stack.apiKey.slice(0, prefix) + characters.join(""));
    const before = reads();
    const statuses = await admit(...mutants.filter((key) => key !== stack.apiKey).map((key) => `Bearer ${key}`));
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(reads()).toBe(before);
  });

  test("when the header has extra white space, another scheme, several values or none", async () => {
    const { apiKey: key } = stack;
    const before = reads();
    const tricks = [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      key,
      `Bearer  ${key}`,
      `Bearer\t${key}`,
      `Bearer ${key} x`,
      `Bearer ${key}, Bearer ${key}`,
      `Bearer ${key}\r\nAuthorization: Bearer ${key}`,
      `Bearer x\r\nAuthorization: Bearer ${key}`,
      `Bearer "${key}"`,
      `Bearer ${key}\u00a0`,
      `Bearer\u00a0${key}`,
      `Bearer ${key}\u0085`,
      `Basic ${key}`,
      `Token ${key}`,
      `Bearerr ${key}`,
      `earer ${key}`,
      `Bearer ${encodeURIComponent(key).replace("_", "%5F")}`,
      `Bearer ${hashApiKey(key)}`,
    ];
    for (const trick of tricks) expect(await admit(trick)).toEqual([401]);
    expect(reads()).toBe(before);
  });

  test("when the key is the other environment's, even if it is in this one's table, and costs no read", async () => {
    const live = makeApiKey(environments.production.apiKeyPrefix);
    await stack.putKey({}, live);
    const before = reads();
    expect(await admit(`Bearer ${live}`)).toEqual([401]);
    expect(reads()).toBe(before);
  });

  test("when nobody issued its well-formed key, and costs one read", async () => {
    const keys = Array.from({ length: 50 }, () => makeApiKey("pets_test"));
    const before = reads();
    expect(new Set(await admit(...keys.map((key) => `Bearer ${key}`)))).toEqual(new Set([401]));
    expect(reads() - before).toBe(keys.length);
  });

  test("when its key expires this second, but not when it has an hour left", async () => {
    const second = Math.floor(Date.now() / 1000);
    const [expired, lasting] = [
      await stack.putKey({ expiresAt: second }),
      await stack.putKey({ expiresAt: second + 3600 }),
    ];
    expect(await admit(`Bearer ${expired}`, `Bearer ${lasting}`)).toEqual([401, 404]);
  });

  test("when its key is revoked: at once, or when the cache forgets a key that was used before", async () => {
    const ttl = environments.staging.authorizerCacheSeconds * 1000;
    const [used, unused] = [await stack.putKey(), await stack.putKey()];
    expect(await admit(`Bearer ${used}`)).toEqual([404]);
    await Promise.all([used, unused].map((key) => stack.putKey({ revokedAt: 1 }, key)));
    expect(await admit(`Bearer ${used}`, `Bearer ${unused}`)).toEqual([404, 401]);
    now += ttl - 1;
    expect(await admit(`Bearer ${used}`, `Bearer ${unused}`)).toEqual([404, 401]);
    now += 1;
    expect(await admit(`Bearer ${used}`, `Bearer ${unused}`)).toEqual([401, 401]);
  });

  test("when its key's record is damaged", async () => {
    const absent = undefined;
    const damages = [{ keyId: absent }, { keyId: 1 }, { createdAt: absent }, { createdAt: "0" }, { name: absent }];
    const keys = await Promise.all(damages.map((damage) => stack.putKey(damage)));
    expect(new Set(await admit(...keys.map((key) => `Bearer ${key}`)))).toEqual(new Set([401]));
  });
});

test("a valid key is accepted under its scheme in any case, and costs one read while the cache remembers it", async () => {
  const key = await stack.putKey();
  const before = reads();
  expect(await admit(`Bearer ${key}`)).toEqual([404]);
  expect(new Set(await admit(...Array.from({ length: 20 }, () => `Bearer ${key}`)))).toEqual(new Set([404]));
  expect(reads() - before).toBe(1);
  const schemes = fc.sample(fc.mixedCase(fc.constant("bearer")), { numRuns: 30, seed: 1 });
  expect(new Set(await admit(...schemes.map((scheme) => `${scheme} ${key}`)))).toEqual(new Set([404]));
});

test("no other text passes for a key", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        anyText({ maxLength: 80 }),
        fc.stringMatching(/^pets_(test|live)_[0-9A-Za-z]{49}$/),
        fc.stringMatching(/^pets_(test|live)_[0-9A-Za-z]{49}[\n\r\u2028]$/),
      ),
      // One in 2^32 texts of the right form has the right checksum.
      (text) => !isApiKey(text),
    ),
    { numRuns: 2_000 },
  );
});

test("no key was logged", () => {
  expect(stack.log.join("\n")).not.toMatch(/pets_(test|live)_/);
});
