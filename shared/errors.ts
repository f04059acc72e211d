const outcomeUnknown =
  "The request may still have taken effect; retrying is safe, even for a cancellation";

/**
 * The catalogue of Error records (the `Error` schema of openapi.yaml). Every non-2xx response of
 * the service, from a function or from the gateway, takes its code and message from here.
 * The texts are constant; causes are logged.
 */
export const errors = {
  bad_request: { status: 400, message: "The request is malformed" },
  unauthorized: { status: 401, message: "Missing or invalid API key" },
  forbidden: { status: 403, message: "This request is not allowed" },
  order_not_found: {
    status: 404,
    message:
      "No order has this id. An order id is an integer from -9223372036854775808 to " +
      "9223372036854775807, without leading zeros or a plus sign",
  },
  resource_not_found: {
    status: 404,
    message:
      "The requested resource could not be found. " +
      "Orders are at /store/orders under the base address",
  },
  method_not_allowed: {
    status: 405,
    message:
      "This resource does not support this method. The Allow header lists the methods it supports",
  },
  order_already_shipped: {
    status: 409,
    message: "Order cannot be cancelled because it has already shipped",
  },
  order_already_cancelled: { status: 409, message: "Order has already been cancelled" },
  order_not_pending: {
    status: 409,
    message: "Order cannot be cancelled because it is not pending",
  },
  request_too_large: {
    status: 413,
    message: "The request is too large. Send no body, and shorter headers",
  },
  unsupported_media_type: {
    status: 415,
    message: "Unsupported content type. No operation takes a request body",
  },
  too_many_requests: {
    status: 429,
    message:
      "Too many requests. Wait for the number of seconds in the Retry-After header, then try again",
  },
  internal_error: { status: 500, message: `The service failed. ${outcomeUnknown}` },
  service_unavailable: {
    status: 503,
    message: `The service is temporarily unavailable. ${outcomeUnknown}`,
  },
  gateway_timeout: {
    status: 504,
    message: `The service did not respond in time. ${outcomeUnknown}`,
  },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errors;

/** The Error record of `code` as JSON text: `code`, `message` and `status`, in this order. */
export function errorBody(code: ErrorCode): string {
  const { message, status } = errors[code];
  return JSON.stringify({ code, message, status });
}

/** An error that has a response of its own in the catalogue. Its cause never reaches a client. */
export class ServiceError extends Error {
  override name = "ServiceError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, cause?: unknown) {
    super(errors[code].message, { cause });
    this.code = code;
  }
}
