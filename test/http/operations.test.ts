import { expect, test } from "vitest";
import { smokeChecks } from "../../infra/tools/smoke/checks.ts";
import { smoke } from "../../infra/tools/smoke/smoke.ts";
import { beforeTests } from "../helpers/before-tests.ts";
import { expectError } from "../helpers/expect-error.ts";
import type { RequestOptions } from "../helpers/send.ts";
import { startTestStack } from "../helpers/test-stack.ts";

const stack = beforeTests(startTestStack);

const cancel = (orderId: string, options: RequestOptions = {}) =>
  stack.call(`/store/orders/${orderId}`, { method: "DELETE", ...options });

test("a list has every order with its own fields and digits, whatever its status or the query", async () => {
  const response = await stack.call("/store/orders?limit=1&status=pending&limit=2");
  expect(response.status).toBe(200);
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

test.each(["202", "9223372036854775807", "-9223372036854775808"])(
  "order %s is cancelled once, even for two requests with one id, and stays in the list",
  async (id) => {
    const headers = { "x-amzn-requestid": "request_1" };
    const response = await cancel(id, { headers });
    expect(response).toMatchObject({ status: 204, body: "" });
    expect(response.headers).not.toHaveProperty("content-length");
    expect(response.headers).not.toHaveProperty("transfer-encoding");
    expectError(await cancel(id, { headers }), "order_already_cancelled");
    expect((await stack.call("/store/orders")).body).toContain(`{"id":${id}`);
  },
);

test("a cancellation decodes a percent-encoded id, and ignores a body", async () => {
  const headers = { "content-type": "application/json" };
  const options = { body: '{"orderId":205}', headers };
  expect((await cancel("%32%30%33", options)).status).toBe(204);
  expectError(await cancel("203"), "order_already_cancelled");
  expect((await cancel("205")).status).toBe(204);
});

test("the local stack passes the smoke test", async () => {
  const { baseUrl, apiKey } = stack;
  const lines = await Array.fromAsync(smoke({ baseUrl, apiKey, cancel: "201" }));
  const passes = Object.keys(smokeChecks("201")).map((text) => ({ kind: "pass", text }));
  expect(lines).toEqual(passes);
});
