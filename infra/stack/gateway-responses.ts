import { ResponseType, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";

/**
 * The Error record for every failure to which the gateway itself responds. The bodies are literal:
 * the gateway's own texts echo what the client sent, and its template language can't render a
 * status.
 */
const codes: [ResponseType, ErrorCode][] = [
  // Each has its own, even where the codes are equal: a default can't render the status that it is
  // used for.
  [ResponseType.ACCESS_DENIED, "forbidden"],
  [ResponseType.API_CONFIGURATION_ERROR, "internal_error"],
  [ResponseType.AUTHORIZER_CONFIGURATION_ERROR, "internal_error"],
  [ResponseType.AUTHORIZER_FAILURE, "internal_error"],
  [ResponseType.BAD_REQUEST_BODY, "bad_request"],
  [ResponseType.BAD_REQUEST_PARAMETERS, "bad_request"],
  [ResponseType.EXPIRED_TOKEN, "forbidden"],
  [ResponseType.INTEGRATION_FAILURE, "internal_error"],
  [ResponseType.INTEGRATION_TIMEOUT, "gateway_timeout"],
  [ResponseType.INVALID_API_KEY, "forbidden"],
  // For a Bearer header on an unknown path the gateway looks for an AWS signature, and its own
  // message echoes the key.
  [ResponseType.INVALID_SIGNATURE, "resource_not_found"],
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, "resource_not_found"],
  [ResponseType.QUOTA_EXCEEDED, "too_many_requests"],
  [ResponseType.REQUEST_TOO_LARGE, "request_too_large"],
  [ResponseType.RESOURCE_NOT_FOUND, "resource_not_found"],
  [ResponseType.THROTTLED, "too_many_requests"],
  [ResponseType.UNAUTHORIZED, "unauthorized"],
  [ResponseType.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"],
  [ResponseType.WAF_FILTERED, "forbidden"],
  // For types that AWS may add.
  [ResponseType.DEFAULT_4XX, "bad_request"],
  [ResponseType.DEFAULT_5XX, "internal_error"],
];

const headers: Partial<Record<ErrorCode, Record<string, string>>> = {
  unauthorized: { "WWW-Authenticate": "'Bearer'" },
  too_many_requests: { "Retry-After": "'1'" },
};

/** Defines every gateway response of the API from the error catalogue. */
export function addGatewayResponses(api: RestApi): void {
  for (const [type, code] of codes) {
    // A default's status would replace the status of every type that isn't listed.
    const statusCode = type.responseType.startsWith("DEFAULT_")
      ? {}
      : { statusCode: String(errors[code].status) };
    api.addGatewayResponse(type.responseType, {
      type,
      ...statusCode,
      responseHeaders: { "Cache-Control": "'no-store'", ...headers[code] },
      templates: { "application/json": errorBody(code) },
    });
  }
}
