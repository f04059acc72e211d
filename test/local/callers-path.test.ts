import { expect, test, vi } from "vitest";
import { callersPath } from "../../infra/local/machine/callers-path.ts";

test.each(["admin", "start"])("npm run %s looks for a file in the folder from which npm was called", (script) => {
  vi.stubEnv("npm_lifecycle_event", script);
  vi.stubEnv("INIT_CWD", "/home/operator");
  expect(callersPath("orders.ndjson")).toBe("/home/operator/orders.ndjson");
  expect(callersPath("/tmp/orders.ndjson")).toBe("/tmp/orders.ndjson");
});

test("a process that another script started looks in its own folder", () => {
  vi.stubEnv("npm_lifecycle_event", "test");
  vi.stubEnv("INIT_CWD", "/home/operator");
  expect(callersPath("orders.ndjson")).toBe(`${process.cwd()}/orders.ndjson`);
});
