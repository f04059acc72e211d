/** The types of gateway responses, each with its default status. */
const statuses = {
  ACCESS_DENIED: 403,
  AUTHORIZER_CONFIGURATION_ERROR: 500,
  AUTHORIZER_FAILURE: 500,
  INTEGRATION_FAILURE: 504,
  INTEGRATION_TIMEOUT: 504,
  MISSING_AUTHENTICATION_TOKEN: 403,
  REQUEST_TOO_LARGE: 413,
  UNAUTHORIZED: 401,
  UNSUPPORTED_MEDIA_TYPE: 415,
} as const;

/** A request that ends in a gateway response. */
export class GatewayFailure extends Error {
  override name = "GatewayFailure";
  readonly type: keyof typeof statuses;

  constructor(type: keyof typeof statuses) {
    super(type);
    this.type = type;
  }

  /** Used when the API sets no status of its own. */
  get defaultStatus(): number {
    return statuses[this.type];
  }
}
