import { describe, expect, test } from "vitest";
import { type ErrorCode, errorBody, errors, ServiceError } from "../../shared/errors.ts";

const codes = Object.keys(errors) as ErrorCode[];

describe("the error catalogue", () => {
  test.each(codes)("%s is a complete Error record with an error's status", (code) => {
    const { status, message } = errors[code];
    expect(errorBody(code)).toBe(`{"code":"${code}","message":"${message}","status":${status}}`);
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(message).toMatch(/^[A-Z][^"\\]+[^.]$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
  });

  test("has the specification's words for the conditions it names", () => {
    expect(errorBody("unauthorized")).toBe(
      '{"code":"unauthorized","message":"Missing or invalid API key","status":401}',
    );
    expect(errorBody("order_already_shipped")).toBe(
      '{"code":"order_already_shipped","message":"Order cannot be cancelled because it has already shipped","status":409}',
    );
  });
});

test("a ServiceError has its record's status, and a message for people without its cause", () => {
  const cause = new Error("secret");
  const error = new ServiceError("order_already_shipped", cause);
  expect(error).toMatchObject({ name: "ServiceError", code: "order_already_shipped", status: 409, cause });
  expect(error.message).toBe("Order cannot be cancelled because it has already shipped");
});
