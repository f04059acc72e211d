import { expect, test, vi } from "vitest";
import { environmentVariable } from "../../shared/environment.ts";

test("an environment variable has the value that the stack set", () => {
  vi.stubEnv("ORDERS_TABLE", "orders-1");
  expect(environmentVariable("ORDERS_TABLE")).toBe("orders-1");
});

test.each([undefined, ""])("an environment variable that is %j is named in the error", (value) => {
  vi.stubEnv("API_KEYS_TABLE", value);
  expect(() => environmentVariable("API_KEYS_TABLE")).toThrow(
    "The environment variable API_KEYS_TABLE is not set",
  );
});
