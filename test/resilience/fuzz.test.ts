import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestStack, type TestStack } from "../helpers/test-stack.ts";
import { fuzz, seedFuzzedOrders } from "../helpers/traffic/fuzzing.ts";

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
  await seedFuzzedOrders(stack);
});
afterAll(() => stack?.stop());

test("5,000 requests of every kind each have an answer of the contract or an Error record, and crash nothing", async () => {
  const report = await fuzz(stack, { requests: 5_000 });
  expect(report.requests).toBeGreaterThanOrEqual(5_000);
  for (const status of [200, 204, 400, 401, 404, 405, 409, 413, 415])
    expect([...report.statuses.keys()]).toContain(status);
  expect(stack.log.filter((line) => /Runtime exited|timed out|gateway failed/.test(line))).toEqual([]);
  expect(stack.log.join("\n")).not.toContain(stack.apiKey);
  expect((await stack.call("/store/orders")).status).toBe(200);
});
