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
  test("lists every order with exactly its own fields and digits, whatever its status", async () => {
    const list = await stack.call("/store/orders");
    expect(list).toMatchObject({
      status: 200,
      headers: {
        "content-type": "application/json",
        "cache-control": "no-store",
        vary: "Accept-Encoding",
      },
      body: expect.stringMatching(/^\[\{/),
    });
    expect(JSON.parse(list.body)).toHaveLength(stack.seeded);
    for (const order of [
      '{"id":101,"petId":1,"quantity":2,"shipDate":"2026-12-01T09:00:00Z","complete":false}',
      '{"id":102,"petId":1,"complete":true}',
      '{"id":103}',
      '{"id":9223372036854775807,"petId":-9223372036854775808}',
      '{"id":-9223372036854775808,"petId":9223372036854775807}',
    ])
      expect(list.body).toContain(order);
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

  test.each(ofClients)("responds with $2 for $0", async (what, before, outcome) => {
    const id = String(400 + ofClients.findIndex(([other]) => other === what));
    if (before) await stack.putOrder({ id: { N: id }, ...before });
    const response = await cancel(id);
    if (outcome !== 204) return expectError(response, outcome);
    expect(response.status).toBe(204);
  });

  test("sends a 204 without a body that no one may cache", async () => {
    const { status, headers, body } = await cancel("201");
    expect({ status, body, cache: headers["cache-control"] }).toEqual({
      status: 204,
      body: "",
      cache: "no-store",
    });
    expect(headers).not.toHaveProperty("content-length");
    expect(headers).not.toHaveProperty("transfer-encoding");
  });

  const orderIds = ["202", "9223372036854775807", "-9223372036854775808"];
  test.each(orderIds)("cancels order %s once, even for two requests with one id", async (id) => {
    const headers = { "x-amzn-requestid": "request_1" };
    expect((await cancel(id, { headers })).status).toBe(204);
    expectError(await cancel(id, { headers }), "order_already_cancelled");
  });

  test.each(orderIds)("keeps order %s in the list once it is cancelled", async (id) => {
    await cancel(id);
    expectError(await cancel(id), "order_already_cancelled");
    expect((await stack.call("/store/orders")).body).toContain(`{"id":${id}`);
  });

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

  test("decodes a percent-encoded id", async () => {
    expect((await cancel("%32%30%33")).status).toBe(204);
    expectError(await cancel("203"), "order_already_cancelled");
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
