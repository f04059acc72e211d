import { expect, test } from "vitest";
import { type ErrorCode, errorBody, ServiceError } from "../../shared/errors.ts";

test.each<[code: ErrorCode, status: number, message: string]>([
  ["unauthorized", 401, "Missing or invalid API key"],
  [
    "order_already_shipped",
    409,
    "Order cannot be cancelled because it has already shipped",
  ],
])("%s has the status and message of the specification, whatever its cause", (...row) => {
  const [code, status, message] = row;
  expect(errorBody(code)).toBe(
    `{"code":"${code}","message":"${message}","status":${status}}`,
  );
  const cause = new Error("secret");
  const error = new ServiceError(code, cause);
  expect({ ...error, message: error.message, cause: error.cause }).toEqual({
    name: "ServiceError",
    code,
    message,
    cause,
  });
});
