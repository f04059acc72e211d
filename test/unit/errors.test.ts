import { expect, test } from "vitest";
import { errorBody, ServiceError } from "../../shared/errors.ts";

test("the Error records have the specification's words for the conditions it names", () => {
  expect(errorBody("unauthorized")).toBe(
    '{"code":"unauthorized","message":"Missing or invalid API key","status":401}',
  );
  expect(errorBody("order_already_shipped")).toBe(
    '{"code":"order_already_shipped","message":"Order cannot be cancelled because it has already shipped","status":409}',
  );
});

test("the message of a ServiceError is for people, without its cause", () => {
  const cause = new Error("secret");
  const error = new ServiceError("order_already_shipped", cause);
  expect(error).toMatchObject({ name: "ServiceError", code: "order_already_shipped", cause });
  expect(error.message).toBe("Order cannot be cancelled because it has already shipped");
});
