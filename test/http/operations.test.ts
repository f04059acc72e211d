import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import type { HttpResponse } from "../../infra/smoke/client.ts";
import { smoke } from "../../infra/smoke/smoke.ts";
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

test("a list has every order with its own fields and digits, whatever its status or the query", async () => {
  const response = await stack.call("/store/orders?limit=1&status=pending&limit=2");
  expect(response).toMatchObject({
    status: 200,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      vary: "Accept-Encoding",
    },
    body: expect.stringMatching(/^\[\{/),
  });
  expect(JSON.parse(response.body)).toHaveLength(stack.seeded);
  for (const order of [
    '{"id":101,"petId":1,"quantity":2,"shipDate":"2026-12-01T09:00:00Z","complete":false}',
    '{"id":102,"petId":1,"complete":true}',
    '{"id":103}',
    '{"id":9223372036854775807,"petId":-9223372036854775808}',
    '{"id":-9223372036854775808,"petId":9223372036854775807}',
  ])
    expect(response.body).toContain(order);
});

describe("DELETE /store/orders/{orderId}", () => {
  // No client can choose the id of its invocation.
  const ofClients = cancellations.filter(([what]) => !what.includes("this invocation"));

  test.each(ofClients)("responds with $2 for $0", async (what, before, outcome) => {
    const id = String(400 + ofClients.findIndex(([other]) => other === what));
    if (before) await stack.putOrder({ id: { N: id }, ...before });
    const response = await cancel(id);
    if (outcome !== 204) return expectError(response, outcome);
    const { status, headers, body } = response;
    expect({ status, body, cache: headers["cache-control"] }).toEqual({
      status: 204,
      body: "",
      cache: "no-store",
    });
    expect(headers).not.toHaveProperty("content-length");
    expect(headers).not.toHaveProperty("transfer-encoding");
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

  test.each(["202", "9223372036854775807", "-9223372036854775808"])(
    "cancels order %s once, even for two requests with one id, and it stays in the list",
    async (id) => {
      const headers = { "x-amzn-requestid": "request_1" };
      expect((await cancel(id, { headers })).status).toBe(204);
      expectError(await cancel(id, { headers }), "order_already_cancelled");
      expect((await stack.call("/store/orders")).body).toContain(`{"id":${id}`);
    },
  );

  test("decodes a percent-encoded id, and ignores a body", async () => {
    const headers = { "content-type": "application/json" };
    const options = { body: '{"orderId":205}', headers };
    expect((await cancel("%32%30%33", options)).status).toBe(204);
    expectError(await cancel("203"), "order_already_cancelled");
    expect((await cancel("205")).status).toBe(204);
  });
});

test("the local stack passes the smoke test", async () => {
  const { baseUrl, apiKey } = stack;
  const lines = await Array.fromAsync(smoke({ baseUrl, apiKey, cancel: "201" }));
  const passes = Object.keys(smokeChecks("201")).map((text) => ({ kind: "pass", text }));
  expect(lines).toEqual(passes);
});
