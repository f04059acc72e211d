/** The types of gateway responses that the local gateway sends. */
type ResponseType =
  | "ACCESS_DENIED"
  | "AUTHORIZER_FAILURE"
  | "INTEGRATION_TIMEOUT"
  | "MISSING_AUTHENTICATION_TOKEN"
  | "REQUEST_TOO_LARGE"
  | "THROTTLED"
  | "UNAUTHORIZED"
  | "UNSUPPORTED_MEDIA_TYPE";

/** A request that ends in a gateway response. The message is its type. */
export class GatewayFailure extends Error {
  override name = "GatewayFailure";

  constructor(type: ResponseType) {
    super(type);
  }
}
