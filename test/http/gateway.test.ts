import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { operations } from "../../infra/stack/function-list.ts";
import { beforeTests } from "../helpers/before-tests.ts";
import { expectError } from "../helpers/expect-error.ts";
import { type RequestOptions, send } from "../helpers/send.ts";
import { startTestStack } from "../helpers/test-stack.ts";

const stack = beforeTests(startTestStack);

/** Calls every operation, and expects a rejection. */
async function expectUnauthorized(headers: RequestOptions["headers"] = {}) {
  for (const { method, path } of operations) {
    const url = path.replace("{orderId}", "101");
    const response = await stack.call(url, { method, headers }, null);
    expectError(response, "unauthorized", { "www-authenticate": "Bearer" });
  }
}

test("an API key that is not in the table is rejected by the authorizer, a malformed one without it", async () => {
  const key = stack.apiKey;
  /** How often the authorizer has rejected a key. */
  const rejections = () =>
    stack.log.filter((line) => line.includes('"Unauthorized"')).length;
  const before = rejections();
  await expectUnauthorized();
  for (const authorization of [
    "",
    key,
    `Basic ${key}`,
    `Bearer\t${key}`,
    `Bearer\u00a0${key}`,
    `Bearer ${key} x`,
    `Bearer ${key.replace(environments.staging.apiKeyPrefix, "pets_another")}`,
    [`Bearer ${key}`, `Bearer ${key}`],
    // The authorizer logs in order: with these rejections, any earlier ones are in the log, too.
    `Bearer ${stack.unknownKey}`,
  ])
    await expectUnauthorized({ authorization });
  await expect.poll(rejections).toBe(before + operations.length);
});

test.each([
  "application/json",
  "Application/JSON ;charset=utf-8",
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/octet-stream",
  "application/xml",
  "text/xml; charset=utf-8",
])(
  "a method that a path does not support gets 405 for a body of %s, with or without a key",
  async (type) => {
    for (const path of ["/store/orders", "/store/orders/101"]) {
      const headers = { "content-type": type };
      const request = { method: "POST", headers, body: "\u0000{<" };
      for (const key of [stack.apiKey, null])
        expectError(await stack.call(path, request, key), "method_not_allowed");
    }
  },
);

test.each(["", "/", "/store/", "/store/orders/101/x", "/%2e%2e/x"])(
  "the path %j, which does not exist, gets 404 with or without a key",
  async (path) => {
    for (const key of [stack.apiKey, null])
      expectError(await stack.call(path, {}, key), "resource_not_found");
  },
);

const page = (path: string, options: RequestOptions = {}) =>
  send(new URL(stack.baseUrl).origin + path, options);

test.each(["localhost", "LOCALHOST:3000", "127.0.0.1:3000", "[::1]:3000"])(
  "the API page gets the API key at this machine's name %s",
  async (host) => {
    const { body } = await page("/settings.json?a=b", { headers: { host } });
    expect(JSON.parse(body)).toEqual({ basePath: "/v1", apiKey: stack.apiKey });
  },
);

test("the API page sends no-store, nosniff and a content security policy", async () => {
  for (const path of ["/", "/settings.json"])
    expect((await page(path)).headers).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "content-security-policy":
        "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
        "img-src data:; connect-src 'self'; frame-ancestors 'none'",
    });
});

test.each(["localhost.evil.example", "localhost@evil.example", "127.0x0.1"])(
  "the API page is not served at another host name: %s",
  async (host) => {
    for (const path of ["/", "/settings.json"])
      expectError(await page(path, { headers: { host } }), "resource_not_found");
  },
);

test("the API page has a changelog in Markdown, and no POST", async () => {
  const { headers } = await page("/CHANGELOG.md");
  expect(headers["content-type"]).toBe("text/markdown; charset=utf-8");
  expectError(await page("/settings.json", { method: "POST" }), "resource_not_found");
});

const limit = 10 * 1024 * 1024;
const post = (length: number, headers = {}) =>
  stack.call("/store/orders", {
    method: "POST",
    headers: { "content-type": "text/plain", ...headers },
    body: Buffer.alloc(length),
  });

test("a request body may have 10 MB, in one piece or in chunks, and not a byte more", async () => {
  expectError(await post(limit), "method_not_allowed");
  expectError(await post(limit + 1), "request_too_large");
  const chunked = { "transfer-encoding": "chunked" };
  expectError(await post(limit + 1, chunked), "request_too_large");
});

test("a request body of 30 MB can be sent to its end, and still gets 413", async () => {
  const headers = { "content-length": 3 * limit };
  const sent = request(`${stack.baseUrl}/store/orders`, { method: "POST", headers });
  sent.end(Buffer.alloc(3 * limit));
  const finished = once(sent, "finish");
  const [response] = await once(sent, "response");
  await finished;
  response.resume();
  expect(response.statusCode).toBe(413);
});
