/** The types of gateway responses, each with the status it has when the API sets none of its own. */
export const defaultStatuses = {
  ACCESS_DENIED: 403,
  AUTHORIZER_CONFIGURATION_ERROR: 500,
  AUTHORIZER_FAILURE: 500,
  INTEGRATION_FAILURE: 504,
  INTEGRATION_TIMEOUT: 504,
  MISSING_AUTHENTICATION_TOKEN: 403,
  REQUEST_TOO_LARGE: 413,
  THROTTLED: 429,
  UNAUTHORIZED: 401,
  UNSUPPORTED_MEDIA_TYPE: 415,
} as const;

/** A request that ends in a gateway response. */
export class GatewayFailure extends Error {
  override name = "GatewayFailure";
  readonly type: keyof typeof defaultStatuses;

  constructor(type: keyof typeof defaultStatuses) {
    super(type);
    this.type = type;
  }
}
