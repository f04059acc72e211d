import { expect, test } from "vitest";
import { type ErrorCode, errorBody, ServiceError } from "../../shared/errors.ts";

test.each<[code: ErrorCode, status: number, message: string]>([
  ["unauthorized", 401, "Missing or invalid API key"],
  ["order_already_shipped", 409, "Order cannot be cancelled because it has already shipped"],
])(
  "an Error has the status and message that the specification gives it: %s",
  (code, status, message) => {
    expect(errorBody(code)).toBe(`{"code":"${code}","message":"${message}","status":${status}}`);
  },
);

const cause = new Error("secret");
const error = new ServiceError("order_already_shipped", cause);

test("a ServiceError has its code and its cause", () => {
  expect(error).toMatchObject({ name: "ServiceError", code: "order_already_shipped", cause });
});

test("the message of a ServiceError does not mention its cause", () => {
  expect(error.message).toBe("Order cannot be cancelled because it has already shipped");
});
