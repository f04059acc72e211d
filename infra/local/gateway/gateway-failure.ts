/** The types of answer that the gateway gives by itself, each with the status that it has unless the API sets another. */
const statuses = {
  ACCESS_DENIED: 403,
  AUTHORIZER_CONFIGURATION_ERROR: 500,
  AUTHORIZER_FAILURE: 500,
  BAD_REQUEST_PARAMETERS: 400,
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

  /** The status when the API sets none. */
  get defaultStatus(): number {
    return statuses[this.type];
  }
}
