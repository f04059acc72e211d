import { expect, test } from "vitest";
import { beforeTests } from "../helpers/before-tests.ts";
import { startTestStack } from "../helpers/test-stack.ts";
import { troubles } from "../helpers/trouble.ts";
import { fuzz } from "./traffic/fuzzing.ts";
import { ResponseCounts } from "./traffic/run-traffic.ts";

const stack = beforeTests(startTestStack);

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

test("over 400 odd requests get described responses, crash nothing and log no key", async () => {
  const counts = new ResponseCounts();
  await fuzz(stack, 1, counts);
  expect(counts.total).toBeGreaterThan(400);
  expect(kinds.filter((kind) => !counts.has(kind))).toEqual([]);
  expect(troubles(stack.log)).toEqual([]);
  expect(stack.log.join("\n")).not.toContain(stack.apiKey);
  expect((await stack.call("/store/orders")).status).toBe(200);
});
