/**
 * The one catalogue of Error records (contract, section 2): every non-2xx answer of the service, whether a function
 * or the gateway gives it, takes its code, status and message from here. The texts are constant; causes go to the log.
 */
export const errors = {
  bad_request: { status: 400, message: "The request could not be understood" },
  unauthorized: { status: 401, message: "Missing or invalid API key" },
  forbidden: { status: 403, message: "This request is not allowed" },
  order_not_found: {
    status: 404,
    message:
      "No order has this id. An order id is a decimal integer from -9223372036854775808 to 9223372036854775807, without leading zeros or a plus sign",
  },
  resource_not_found: {
    status: 404,
    message: "The requested resource could not be found. The orders are at /store/orders under the base address",
  },
  method_not_allowed: {
    status: 405,
    message: "This resource does not support this method. The Allow header names the ones it does",
  },
  order_already_shipped: { status: 409, message: "Order cannot be cancelled because it has already shipped" },
  order_already_cancelled: { status: 409, message: "Order has already been cancelled" },
  order_not_pending: { status: 409, message: "Order cannot be cancelled because it is not pending" },
  request_too_large: { status: 413, message: "The request is too large. No operation takes a request body" },
  unsupported_media_type: {
    status: 415,
    message: "The content type is not supported. No operation takes a request body",
  },
  too_many_requests: { status: 429, message: "Too many requests. Try again after the time in the Retry-After header" },
  internal_error: {
    status: 500,
    message: "The service failed. The outcome is unknown; trying again is safe, cancelling included",
  },
  service_unavailable: {
    status: 503,
    message: "The orders cannot be reached just now. The outcome is unknown; trying again is safe, cancelling included",
  },
  gateway_timeout: {
    status: 504,
    message: "The service did not answer in time. The outcome is unknown; trying again is safe, cancelling included",
  },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errors;

/** The Error record of `code` as JSON text: `code`, `message` and `status`, in this order. */
export function errorBody(code: ErrorCode): string {
  const { message, status } = errors[code];
  return JSON.stringify({ code, message, status });
}

/** An answer of the catalogue, thrown. `@middy/http-error-handler` sends its message as the body. */
export class ServiceError extends Error {
  override name = "ServiceError";
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly expose = true;
  readonly headers = { "Cache-Control": "no-store" };

  constructor(code: ErrorCode, cause?: unknown) {
    super(errorBody(code), { cause });
    this.code = code;
    this.statusCode = errors[code].status;
  }
}
