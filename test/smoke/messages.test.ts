import { expect, test } from "vitest";
import { reason } from "../../infra/smoke/client.ts";
import { excerpt, expectDocumented } from "../../infra/smoke/expect.ts";

test.each<[string, unknown, string]>([
  [
    "of every address of a host",
    new AggregateError([new Error("::1"), new Error("127.0.0.1")], "all"),
    "::1; 127.0.0.1",
  ],
  ["of an error and its cause", new Error("fetch failed", { cause: new Error("reset") }), "fetch failed: reset"],
  ["of what is no error", "nothing", "nothing"],
])("the reason why no response came is that %s", (_, error, expected) => {
  expect(reason(error)).toBe(expected);
});

test("a long body is quoted in part, on one line and without keys", () => {
  const quoted = excerpt(`\n${"x".repeat(80)} pets_test_0abc ${"y".repeat(80)}`);
  expect(quoted).toBe(`"\\n${"x".repeat(80)} pets_test_... ${"y".repeat(22)}…`);
});

test("a body of 120 characters with its quotes is quoted whole", () => {
  expect(excerpt("x".repeat(118))).toBe(`"${"x".repeat(118)}"`);
});

test("what the description does not allow is told one by one", () => {
  const response = { method: "GET", path: "/store/orders", status: 200, headers: {}, body: "[]" };
  expect(() => expectDocumented(response)).toThrow("header Cache-Control is missing; header Vary is missing; ");
});
