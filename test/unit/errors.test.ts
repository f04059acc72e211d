import { describe, expect, test } from "vitest";
import { type ErrorCode, errorBody, errors, ServiceError } from "../../shared/errors.ts";

const codes = Object.keys(errors) as ErrorCode[];

describe("the catalogue of errors", () => {
  test.each(codes)("%s is an Error record of the contract", (code) => {
    const body: unknown = JSON.parse(errorBody(code));
    expect(body).toEqual({ code, message: expect.stringMatching(/^[A-Z]/), status: errors[code].status });
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(errors[code].status).toBeGreaterThanOrEqual(400);
  });

  test("says of a shipped order what the contract says", () => {
    expect(errors.order_already_shipped).toEqual({
      status: 409,
      message: "Order cannot be cancelled because it has already shipped",
    });
    expect(errors.unauthorized).toEqual({ status: 401, message: "Missing or invalid API key" });
  });

  test("thrown, it tells its status, its body and to keep no copy, and hides its cause", () => {
    const error = new ServiceError("service_unavailable", new Error("secret"));
    expect(error).toMatchObject({ statusCode: 503, expose: true, headers: { "Cache-Control": "no-store" } });
    expect(error.name).toBe("ServiceError");
    expect(error.message).toBe(errorBody("service_unavailable"));
    expect(error.message).not.toContain("secret");
  });
});
