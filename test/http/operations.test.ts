import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HttpResponse } from "../../infra/smoke/response-problems.ts";
import { expectError } from "../helpers/expect-error.ts";
import type { RequestOptions } from "../helpers/send.ts";
import { startTestStack, type TestStack } from "../helpers/test-stack.ts";

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.stop());

const cancel = (orderId: string, options: RequestOptions = {}): Promise<HttpResponse> =>
  stack.call(`/store/orders/${orderId}`, { method: "DELETE", ...options });

describe("GET /store/orders", () => {
  test("responds with 200 and a bare array of every order, whatever its status, with the five fields only", async () => {
    const { status, headers, body } = await stack.call("/store/orders");
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "cache-control": "no-store",
      vary: "Accept-Encoding",
    });
    expect(body).toContain('{"id":101,"petId":1,"quantity":2,"shipDate":"2026-12-01T09:00:00Z","complete":false}');
    expect(body).toContain('{"id":102,"petId":1,"complete":true}');
    expect(body).toContain('{"id":103}');
    expect(body.startsWith("[{")).toBe(true);
    expect(JSON.parse(body)).toHaveLength(stack.seeded);
  });

  test("writes int64 extremes digit for digit", async () => {
    const { body } = await stack.call("/store/orders");
    expect(body).toContain('{"id":9223372036854775807,"petId":-9223372036854775808}');
    expect(body).toContain('{"id":-9223372036854775808,"petId":9223372036854775807}');
  });

  test("ignores a query", async () => {
    const { status, body } = await stack.call("/store/orders?limit=1&status=pending&limit=2");
    expect(status).toBe(200);
    expect(JSON.parse(body)).toHaveLength(stack.seeded);
  });
});

describe("DELETE /store/orders/{orderId}", () => {
  test("responds with 204 and no body for a pending order", async () => {
    const { status, headers, body } = await cancel("201");
    expect({ status, body }).toEqual({ status: 204, body: "" });
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["content-length"]).toBeUndefined();
    expect(headers["transfer-encoding"]).toBeUndefined();
  });

  test("responds with 409 order_already_cancelled the second time, and still lists the order", async () => {
    expect((await cancel("202")).status).toBe(204);
    expectError(await cancel("202"), "order_already_cancelled");
    expect((await stack.call("/store/orders")).body).toContain('{"id":202}');
  });

  test.each(["9223372036854775807", "-9223372036854775808"])("cancels the order %s", async (orderId) => {
    expect((await cancel(orderId)).status).toBe(204);
    expectError(await cancel(orderId), "order_already_cancelled");
  });

  test("responds with 409 order_already_shipped for a shipped order", async () => {
    expectError(await cancel("102"), "order_already_shipped");
  });

  test("responds with 409 order_not_pending for any other status", async () => {
    await stack.putOrder({ id: { N: "301" }, status: { S: "lost" } });
    expectError(await cancel("301"), "order_not_pending");
  });

  test.each([
    "999",
    "abc",
    "007",
    "+1",
    "-0",
    "1.0",
    "9223372036854775808",
    "-9223372036854775809",
    "%20101",
    "101%00",
    "%D9%A1",
    "101;x=1",
    "%22%3E%3Cscript%3E",
  ])("responds with 404 order_not_found for the id %s", async (orderId) => {
    expectError(await cancel(orderId), "order_not_found");
  });

  test("reads a percent-encoded id as the id it encodes", async () => {
    expect((await cancel("%32%30%33")).status).toBe(204);
  });

  test("ignores a body", async () => {
    const response = await cancel("204", { body: '{"orderId":205}', headers: { "content-type": "application/json" } });
    expect(response.status).toBe(204);
    expect((await cancel("205")).status).toBe(204);
  });
});
