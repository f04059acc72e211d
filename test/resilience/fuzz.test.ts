import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestStack, type TestStack } from "../helpers/test-stack.ts";
import { troubles } from "../helpers/trouble.ts";
import { fuzz } from "./traffic/fuzzing.ts";
import { ResponseCounts } from "./traffic/response-counts.ts";

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.stop());

const kinds = [
  "200",
  "204",
  "401 unauthorized",
  "404 order_not_found",
  "404 resource_not_found",
  "405 method_not_allowed",
  "409 order_already_cancelled",
  "409 order_already_shipped",
  "415 unsupported_media_type",
];

describe("over 400 unusual requests", () => {
  const counts = new ResponseCounts();
  beforeAll(() => fuzz(stack, 1, counts));

  test("get responses that the document describes", () => {
    expect(counts.total).toBeGreaterThan(400);
    expect(kinds.filter((kind) => !counts.has(kind))).toEqual([]);
  });

  test("crash nothing", async () => {
    expect(troubles(stack.log)).toEqual([]);
    expect((await stack.call("/store/orders")).status).toBe(200);
  });

  test("leave no key in the log", () => {
    expect(stack.log.join("\n")).not.toContain(stack.apiKey);
  });
});
