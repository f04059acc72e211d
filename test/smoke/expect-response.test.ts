import { describe, expect, test } from "vitest";
import { excerpt } from "../../infra/smoke/expect-response.ts";

describe("the excerpt of a body", () => {
  test("is one line", () => {
    expect(excerpt("a\nb")).toBe('"a\\nb"');
  });

  test("has no key", () => {
    expect(excerpt("x pets_test_0123456789abcdefghij")).toBe('"x pets_test_..."');
  });

  test.each([
    [118, `"${"x".repeat(118)}"`],
    [119, `"${"x".repeat(119)}…`],
  ])("ends after 120 characters, quotes included: a body of %i", (length, quoted) => {
    expect(excerpt("x".repeat(length))).toBe(quoted);
  });
});
