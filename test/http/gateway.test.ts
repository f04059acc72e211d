import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { paths } from "../../infra/smoke/document.ts";
import { expectError } from "../helpers/expect-error.ts";
import { exchange } from "../helpers/faults/pipeline.ts";
import { document } from "../helpers/openapi/document.ts";
import { send } from "../helpers/send.ts";
import { startTestStack, type TestStack } from "../helpers/test-stack.ts";

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.stop());

describe("the API key", () => {
  const bad = (): [string, Record<string, string | string[]>][] => [
    ["none", {}],
    ["empty", { authorization: "" }],
    ["unknown", { authorization: `Bearer ${stack.unknownKey}` }],
    ["another scheme's", { authorization: "Basic x" }],
    ["without its scheme", { authorization: stack.apiKey }],
    ["another environment's", { authorization: `Bearer ${stack.apiKey.replace("pets_test", "pets_live")}` }],
    ["two of them", { authorization: [`Bearer ${stack.apiKey}`, `Bearer ${stack.apiKey}`] }],
    ["in another case", { authorization: `Bearer ${stack.apiKey.toUpperCase()}` }],
    ["with a comma after it", { authorization: `Bearer ${stack.apiKey},` }],
  ];

  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => [method.toUpperCase(), path.replace("{orderId}", "101")] as const),
  );
  test.each(described)("is required by %s %s", async (method, path) => {
    for (const [, headers] of bad()) {
      expectError(await stack.call(path, { method, headers }, null), "unauthorized", { "www-authenticate": "Bearer" });
    }
  });

  test.each(["bearer", "BEARER", "bEaReR"])("is accepted under the scheme %s", async (scheme) => {
    const response = await stack.call(
      "/store/orders",
      { headers: { AUTHORIZATION: `${scheme} ${stack.apiKey}` } },
      null,
    );
    expect(response.status).toBe(200);
  });

  test("is never in a response or a log line", async () => {
    for (const path of [
      "/store/orders",
      `/nope/${stack.apiKey}`,
      `/store/orders/${stack.apiKey}`,
      "/store/orders/999",
    ]) {
      const { body, headers } = await stack.call(path, { method: "DELETE" });
      expect(body + JSON.stringify(headers)).not.toContain(stack.apiKey);
    }
    expect(stack.log.join()).not.toContain(stack.apiKey);
  });
});

describe("a method that a path does not support", () => {
  const bodies: [string | undefined, string][] = [
    [undefined, ""],
    ["application/json", "{}"],
    ["application/json; charset=utf-8", "{}"],
    ["text/plain", "hello"],
    ["application/x-www-form-urlencoded", "a=1&b=2"],
    ["multipart/form-data; boundary=x", "--x--"],
    ["application/octet-stream", "\u0000\u0001"],
    ["application/xml", "<a/>"],
  ];

  test.each(paths)("on $path gets 405 with Allow: $methods, with any common body", async ({ path, methods }) => {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter(
      (other) => !methods.includes(other),
    )) {
      for (const [type, body] of bodies) {
        const headers = type === undefined ? {} : { "content-type": type };
        for (const key of [stack.apiKey, null]) {
          const response = await stack.call(path, { method, headers, body }, key);
          expectError(response, "method_not_allowed");
          expect(response.headers["allow"]?.split(", ").sort()).toEqual(methods);
        }
      }
    }
  });

  test("gets 405 without a body if it is HEAD", async () => {
    const { status, headers, body } = await stack.call("/store/orders", { method: "HEAD" });
    expect({ status, body, allow: headers.allow }).toEqual({ status: 405, body: "", allow: "GET" });
  });

  test("gets 415 with a body of another type", async () => {
    const response = await stack.call("/store/orders", {
      method: "POST",
      headers: { "content-type": "image/png" },
      body: "x",
    });
    expectError(response, "unsupported_media_type");
  });
});

describe("a path that does not exist", () => {
  test.each(["", "/", "/nope", "/store", "/store/", "/store/order", "/store/orders/101/x", "/pets/1", "/%2e%2e/x"])(
    "%j under the base address gets 404, with or without a key",
    async (path) => {
      for (const method of ["GET", "POST", "DELETE"]) {
        for (const key of [stack.apiKey, null]) {
          expectError(await stack.call(path, { method }, key), "resource_not_found");
        }
      }
    },
  );
});

test("the page and its key are for this machine's own names only", async () => {
  const origin = new URL(stack.baseUrl).origin;
  for (const host of ["localhost", "LOCALHOST:3000", "127.0.0.1:3000", "[::1]:3000"]) {
    const settings = await send(`${origin}/settings.json?a=b`, { headers: { host } });
    expect(JSON.parse(settings.body)).toEqual({ basePath: "/v1", apiKey: stack.apiKey });
    expect(settings.headers).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringMatching(/^default-src 'none'; /),
    });
  }
  expectError(await send(`${origin}/settings.json`, { method: "POST" }), "resource_not_found");
  expect((await send(`${origin}/CHANGELOG.md`)).headers["content-type"]).toContain("text/markdown");
  for (const host of ["evil.example", "localhost.evil.example", "localhost@evil.example", "127.0x0.1"]) {
    for (const path of ["/", "/settings.json"]) {
      expectError(await send(origin + path, { headers: { host } }), "resource_not_found");
    }
  }
});

test("HEAD of the page gets what GET gets, without the body", async () => {
  const origin = new URL(stack.baseUrl).origin;
  for (const path of ["/", "/settings.json", "/openapi.yaml"]) {
    const [head, get] = [await send(origin + path, { method: "HEAD" }), await send(origin + path)];
    expect([head.status, head.body, get.status]).toEqual([200, "", 200]);
    expect(head.headers["content-type"]).toBe(get.headers["content-type"]);
    expect(get.body).not.toBe("");
  }
});

test("a request of 10 MB is let in, one byte more gets 413", async () => {
  const post = (length: number) =>
    stack.call("/store/orders", {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: Buffer.alloc(length),
    });
  expectError(await post(10 * 1024 * 1024), "method_not_allowed");
  expectError(await post(10 * 1024 * 1024 + 1), "request_too_large");
});

test("a body that is too large does not keep its connection from serving the next request", async () => {
  const { port, host, pathname } = new URL(stack.baseUrl);
  const megabytes = 32 * 1024 * 1024;
  const post = `POST ${pathname}/nope HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${megabytes}\r\n\r\n`;
  const next = `GET ${pathname}/nope HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  const { responses } = await exchange(Number(port), post + "x".repeat(megabytes) + next);
  expect(responses.map(({ status }) => status)).toEqual([413, 404]);
});
