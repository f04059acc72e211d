import { expect, test } from "vitest";
import { troubles } from "../helpers/trouble.ts";

test.each<[trouble: string, line: string]>([
  ["CancelOrder ended with exit code 1", "CancelOrder ended with exit code 1"],
  ["ERROR cancel_failed", '{"level":"ERROR","message":{"event":"cancel_failed"}}'],
  ["WARN order_fields_left_out", '{"level":"WARN","message":{"event":"order_fields_left_out"}}'],
  ["ERROR out of order", '{"level":"ERROR","message":{"errorMessage":"out of order"}}'],
  ["ERROR out of order", '{"level":"ERROR","message":"out of order"}'],
])("a local stack's log shows trouble: %s", (trouble, line) => {
  expect(troubles([line])).toEqual([trouble]);
});

test("a list, a rejected key and a slow start are no trouble", () => {
  const lines = [
    '{"level":"INFO","message":{"event":"orders_listed"}}',
    '{"level":"ERROR","message":{"errorMessage":"Unauthorized"}}',
    '{"level":"WARN","message":{"event":"not_ready"}}',
  ];
  expect(troubles(lines)).toEqual([]);
});
