/** The types of gateway responses for a request that the gateway itself rejects. */
type FailureType =
  | "ACCESS_DENIED"
  | "AUTHORIZER_FAILURE"
  | "INTEGRATION_TIMEOUT"
  | "MISSING_AUTHENTICATION_TOKEN"
  | "REQUEST_TOO_LARGE"
  | "THROTTLED"
  | "UNAUTHORIZED"
  | "UNSUPPORTED_MEDIA_TYPE";

/** The gateway rejects a request. Whatever else goes wrong is an INTEGRATION_FAILURE. */
export class GatewayFailure extends Error {
  override name = "GatewayFailure";
  readonly type: FailureType;

  constructor(type: FailureType) {
    super(type);
    this.type = type;
  }
}
