import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HttpResponse } from "../../infra/smoke/client.ts";
import { cancellations } from "../helpers/cancellations.ts";
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
  test("responds with 200 and headers that forbid caching", async () => {
    const { status, headers } = await stack.call("/store/orders");
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "cache-control": "no-store",
      vary: "Accept-Encoding",
    });
  });

  test("responds with a bare array of every order, whatever its status", async () => {
    const { body } = await stack.call("/store/orders");
    expect(body.startsWith("[{")).toBe(true);
    expect(JSON.parse(body)).toHaveLength(stack.seeded);
  });

  test.each([
    '{"id":101,"petId":1,"quantity":2,"shipDate":"2026-12-01T09:00:00Z","complete":false}',
    '{"id":102,"petId":1,"complete":true}',
    '{"id":103}',
    '{"id":9223372036854775807,"petId":-9223372036854775808}',
    '{"id":-9223372036854775808,"petId":9223372036854775807}',
  ])("lists the fields that an order has, digit for digit: %s", async (order) => {
    expect((await stack.call("/store/orders")).body).toContain(order);
  });

  test("ignores a query", async () => {
    const { status, body } = await stack.call("/store/orders?limit=1&status=pending&limit=2");
    expect(status).toBe(200);
    expect(JSON.parse(body)).toHaveLength(stack.seeded);
  });
});

describe("DELETE /store/orders/{orderId}", () => {
  // No client can choose the id of its invocation.
  const ofClients = cancellations.filter(([what]) => !what.includes("this invocation"));

  test.each(ofClients)(
    "responds for %s (%j) with %s, never to be cached",
    async (what, before, outcome) => {
      const id = String(400 + ofClients.findIndex(([other]) => other === what));
      if (before) await stack.putOrder({ id: { N: id }, ...before });
      const response = await cancel(id);
      if (outcome !== 204) return expectError(response, outcome);
      const { status, headers, body } = response;
      expect({ status, body }).toEqual({ status: 204, body: "" });
      expect(headers["cache-control"]).toBe("no-store");
      expect(headers["content-length"]).toBeUndefined();
      expect(headers["transfer-encoding"]).toBeUndefined();
    },
  );

  test.each(["202", "9223372036854775807", "-9223372036854775808"])(
    "cancels %s once, even for requests with the same id",
    async (orderId) => {
      const headers = { "x-amzn-requestid": "request_1" };
      expect((await cancel(orderId, { headers })).status).toBe(204);
      expectError(await cancel(orderId, { headers }), "order_already_cancelled");
      expect((await stack.call("/store/orders")).body).toContain(`{"id":${orderId}`);
    },
  );

  test.each([
    "abc",
    "007",
    "+1",
    "1.0",
    "9223372036854775808",
    "%20101",
    "101%00",
    "%D9%A1",
    "101;x=1",
  ])("responds with 404 order_not_found for the id %s", async (orderId) => {
    expectError(await cancel(orderId), "order_not_found");
  });

  test("reads a percent-encoded id as the id it encodes", async () => {
    expect((await cancel("%32%30%33")).status).toBe(204);
  });

  test("ignores a body", async () => {
    const response = await cancel("204", {
      body: '{"orderId":205}',
      headers: { "content-type": "application/json" },
    });
    expect(response.status).toBe(204);
    expect((await cancel("205")).status).toBe(204);
  });
});
