import { expect, test, vi } from "vitest";
import { environmentVariable } from "../../shared/environment.ts";

test("an environment variable that is missing or empty is named in the error", () => {
  const read = () => environmentVariable("API_KEYS_TABLE");
  expect(read()).toBe("api-keys");
  for (const value of [undefined, ""]) {
    vi.stubEnv("API_KEYS_TABLE", value);
    expect(read).toThrow("The environment variable API_KEYS_TABLE is not set");
  }
});
