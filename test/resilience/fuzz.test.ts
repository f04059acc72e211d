import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestStack, type TestStack } from "../helpers/test-stack.ts";
import { fuzz } from "../helpers/traffic/fuzzing.ts";
import { troubles } from "../helpers/trouble.ts";

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.stop());

const kinds = [
  "listOrders 200",
  "listOrders 401 unauthorized",
  "cancelOrder 204",
  "cancelOrder 401 unauthorized",
  "cancelOrder 404 order_not_found",
  "cancelOrder 409 order_already_cancelled",
  "cancelOrder 409 order_already_shipped",
  "other 404 resource_not_found",
  "other 405 method_not_allowed",
  "other 415 unsupported_media_type",
];

test("500 odd requests each get the operation's response or an Error record, and crash nothing", async () => {
  const sent: number[] = [];
  const counts = await fuzz(stack, { requests: 500, seed: 1, onRound: (requests) => void sent.push(requests) });
  // Other requests in each round, and so another number of them.
  const [first = 0, second = 0] = sent;
  expect(second - first).not.toBe(first);
  expect(counts.total).toBeGreaterThanOrEqual(500);
  expect(kinds.filter((kind) => counts.of(kind) === 0)).toEqual([]);
  // More than the stack's own two pending orders: each round resets its orders.
  expect(counts.of("cancelOrder 204")).toBeGreaterThan(10);
  expect(troubles(stack.log)).toEqual([]);
  expect(stack.log.join("\n")).not.toContain(stack.apiKey);
  expect((await stack.call("/store/orders")).status).toBe(200);
});
