import { expect, test } from "vitest";
import { errorBody, ServiceError } from "../../shared/errors.ts";

test("an Error has the specification's message and status, whatever its cause", () => {
  const message = "Order cannot be cancelled because it has already shipped";
  const error = new ServiceError("order_already_shipped", "secret");
  expect(errorBody(error.code)).toBe(
    `{"code":"order_already_shipped","message":"${message}","status":409}`,
  );
  expect(error).toMatchObject({ name: "ServiceError", message, cause: "secret" });
  expect(errorBody("unauthorized")).toBe(
    '{"code":"unauthorized","message":"Missing or invalid API key","status":401}',
  );
});
