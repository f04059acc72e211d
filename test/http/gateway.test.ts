import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { operations } from "../../infra/stack/function-list.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { expectError } from "../helpers/expect-error.ts";
import { type RequestOptions, send } from "../helpers/send.ts";
import { startTestStack, type TestStack } from "../helpers/test-stack.ts";

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.stop());

describe("an API key", () => {
  /** Cancels an order that does not exist: order_not_found, once the key is accepted. */
  const cancelUnknown = (key: string) =>
    stack.call("/store/orders/none", { method: "DELETE" }, key);

  /** Calls every operation, and expects a rejection. */
  async function expectUnauthorized(authorization: string | string[] | undefined) {
    const headers = authorization === undefined ? {} : { authorization };
    for (const { method, path } of operations) {
      const url = path.replace("{orderId}", "101");
      const response = await stack.call(url, { method, headers }, null);
      expectError(response, "unauthorized", { "www-authenticate": "Bearer" });
    }
  }
  /** How often the authorizer has rejected a key. */
  const rejections = () =>
    stack.log.filter((line) => line.includes('"Unauthorized"')).length;

  test("that is not in the table is rejected by the authorizer, a malformed one without it", async () => {
    const key = stack.apiKey;
    const before = rejections();
    for (const authorization of [
      undefined,
      "",
      "Bearer",
      key,
      `Basic ${key}`,
      `Bearer  ${key}`,
      `Bearer\t${key}`,
      `Bearer\u00a0${key}`,
      `Bearer ${key} x`,
      `Bearer ${key},`,
      `Bearer ${key.toUpperCase()}`,
      `Bearer ${key.replace(environments.staging.apiKeyPrefix, "pets_another")}`,
      [`Bearer ${key}`, `Bearer ${key}`],
      // The authorizer logs in order: with these rejections, any earlier ones are in the log, too.
      `Bearer ${stack.unknownKey}`,
    ])
      await expectUnauthorized(authorization);
    await expect.poll(rejections).toBe(before + operations.length);
  });

  test.each([
    ["has expired", { expiresAt: Math.floor(Date.now() / 1000) }],
    ["is damaged", { keyId: undefined }],
    ["belongs to another environment", {}, makeApiKey("pets_another")],
  ])(
    "that %s is rejected although it is in the table",
    async (_what, record, key?: string) => {
      expectError(await cancelUnknown(await stack.putKey(record, key)), "unauthorized");
    },
  );
});

describe("a method that a path does not support", () => {
  test.each([
    ["application/json", "{}"],
    ["Application/JSON ;charset=utf-8", "{}"],
    ["text/plain", "hello"],
    ["application/x-www-form-urlencoded", "a=1&b=2"],
    ["multipart/form-data; boundary=x", "--x--"],
    ["application/octet-stream", "\u0000\u0001"],
    ["application/xml", "<a/>"],
  ])("gets 405 for a body of %s, with or without a key", async (type, body) => {
    for (const path of ["/store/orders", "/store/orders/101"]) {
      const request = { method: "POST", headers: { "content-type": type }, body };
      for (const key of [stack.apiKey, null])
        expectError(await stack.call(path, request, key), "method_not_allowed");
    }
  });

  test("gets 405 without a body if it is HEAD", async () => {
    const { status, headers, body } = await stack.call("/store/orders", { method: "HEAD" });
    expect({ status, body, allow: headers.allow }).toEqual({
      status: 405,
      body: "",
      allow: "GET",
    });
  });
});

test.each(["", "/", "/store/", "/store/orders/101/x", "/%2e%2e/x"])(
  "the path %j, which does not exist, gets 404 with or without a key",
  async (path) => {
    for (const key of [stack.apiKey, null])
      expectError(await stack.call(path, {}, key), "resource_not_found");
  },
);

describe("the API page", () => {
  const page = (path: string, options: RequestOptions = {}) =>
    send(new URL(stack.baseUrl).origin + path, options);

  test.each(["localhost", "LOCALHOST:3000", "127.0.0.1:3000", "[::1]:3000"])(
    "gets the API key at this machine's name %s",
    async (host) => {
      const { body } = await page("/settings.json?a=b", { headers: { host } });
      expect(JSON.parse(body)).toEqual({ basePath: "/v1", apiKey: stack.apiKey });
    },
  );

  test("sends no-store, nosniff and a content security policy", async () => {
    for (const path of ["/", "/settings.json"]) {
      const { headers } = await page(path);
      expect(headers).toMatchObject({
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "content-security-policy": expect.stringMatching(/^default-src 'none'; /),
      });
    }
  });

  test.each([
    "evil.example",
    "localhost.evil.example",
    "localhost@evil.example",
    "127.0x0.1",
  ])("is not served at another host name: %s", async (host) => {
    for (const path of ["/", "/settings.json"])
      expectError(await page(path, { headers: { host } }), "resource_not_found");
  });

  test("responds with 404 to a POST", async () => {
    expectError(await page("/settings.json", { method: "POST" }), "resource_not_found");
  });

  test("serves the changelog as Markdown", async () => {
    const { headers } = await page("/CHANGELOG.md");
    expect(headers["content-type"]).toContain("text/markdown");
  });
});

describe("a request body", () => {
  const limit = 10 * 1024 * 1024;
  const post = (length: number, headers = {}) =>
    stack.call("/store/orders", {
      method: "POST",
      headers: { "content-type": "text/plain", ...headers },
      body: Buffer.alloc(length),
    });

  test("of 10 MB is not too large", async () => {
    expectError(await post(limit), "method_not_allowed");
  });

  test.each([
    ["with a content-length", {}],
    ["in chunks", { "transfer-encoding": "chunked" }],
  ])("of one byte over 10 MB gets 413 %s", async (_, headers) => {
    expectError(await post(limit + 1, headers), "request_too_large");
  });
});

test("a client can send a body of 30 MB to its end and still get the 413", async () => {
  const length = 30 * 1024 * 1024;
  const sent = request(`${stack.baseUrl}/store/orders`, {
    method: "POST",
    headers: { "content-length": length },
  });
  sent.end(Buffer.alloc(length));
  const finished = once(sent, "finish");
  const [response] = await once(sent, "response");
  await finished;
  response.resume();
  expect(response.statusCode).toBe(413);
});
