import {
  type GatewayResponse,
  Method,
  MockIntegration,
  PassthroughBehavior,
  type ResourceBase,
  ResponseType,
  type RestApi,
} from "aws-cdk-lib/aws-apigateway";
import { Validations } from "aws-cdk-lib/core";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";

/**
 * The Error record for every failure to which the gateway itself responds. The bodies are literal:
 * the gateway's own texts echo what the client sent, and its template language can't render a
 * status.
 */
const codes: Record<string, ErrorCode> = {
  // Every type has its own entry, because a default response can't render the actual status.
  ACCESS_DENIED: "forbidden",
  API_CONFIGURATION_ERROR: "internal_error",
  AUTHORIZER_CONFIGURATION_ERROR: "internal_error",
  AUTHORIZER_FAILURE: "internal_error",
  BAD_REQUEST_BODY: "bad_request",
  BAD_REQUEST_PARAMETERS: "bad_request",
  EXPIRED_TOKEN: "forbidden",
  INTEGRATION_FAILURE: "internal_error",
  INTEGRATION_TIMEOUT: "gateway_timeout",
  INVALID_API_KEY: "forbidden",
  // For a Bearer header on an unknown path the gateway looks for an AWS signature, and its own
  // message echoes the key.
  INVALID_SIGNATURE: "resource_not_found",
  MISSING_AUTHENTICATION_TOKEN: "resource_not_found",
  QUOTA_EXCEEDED: "too_many_requests",
  REQUEST_TOO_LARGE: "request_too_large",
  RESOURCE_NOT_FOUND: "resource_not_found",
  THROTTLED: "too_many_requests",
  UNAUTHORIZED: "unauthorized",
  UNSUPPORTED_MEDIA_TYPE: "unsupported_media_type",
  WAF_FILTERED: "forbidden",
  // For types that AWS may add.
  DEFAULT_4XX: "bad_request",
  DEFAULT_5XX: "internal_error",
};

const headers: Partial<Record<ErrorCode, Record<string, string>>> = {
  unauthorized: { "WWW-Authenticate": "'Bearer'" },
  too_many_requests: { "Retry-After": "'1'" },
};

/**
 * Defines every gateway response of the API from the error catalogue. Each waits for the one before:
 * API Gateway's control plane takes ten calls a second from an account.
 */
export function addGatewayResponses(api: RestApi) {
  let last: GatewayResponse | undefined;
  for (const [type, code] of Object.entries(codes)) {
    // A default's status would replace the status of every type that isn't listed.
    const hasStatus = !type.startsWith("DEFAULT_");
    const response = api.addGatewayResponse(type, {
      type: ResponseType.of(type),
      ...(hasStatus && { statusCode: String(errors[code].status) }),
      responseHeaders: { "Cache-Control": "'no-store'", ...headers[code] },
      templates: { "application/json": errorBody(code) },
    });
    if (last) response.node.addDependency(last);
    last = response;
  }
}

// The gateway picks a request template by the request's content type, and rejects types without one
// with 415.
const contentTypes = [
  "application/json",
  "application/octet-stream",
  "application/x-www-form-urlencoded",
  "application/xml",
  "multipart/form-data",
  "text/plain",
  "text/xml",
];

/**
 * Makes the gateway itself respond with an Error record to every method of the resource that isn't
 * an operation: 405, or 404 where none is. No key is needed: there is nothing to protect.
 *
 * @param resource must already have the methods of its operations.
 */
export function rejectOtherMethods(resource: ResourceBase) {
  const methods = resource.node.children
    .filter((part) => part instanceof Method)
    .map(({ httpMethod }) => httpMethod);
  const code = methods.length > 0 ? "method_not_allowed" : "resource_not_found";
  const { status } = errors[code];
  const statusCode = String(status);
  const responseParameters = {
    "method.response.header.Cache-Control": "'no-store'",
    ...(methods.length > 0 && {
      "method.response.header.Allow": `'${methods.join(", ")}'`,
    }),
  };
  const requestTemplate = JSON.stringify({ statusCode: status });
  const integration = new MockIntegration({
    passthroughBehavior: PassthroughBehavior.NEVER,
    requestTemplates: Object.fromEntries(
      contentTypes.map((type) => [type, requestTemplate]),
    ),
    integrationResponses: [
      {
        statusCode,
        responseParameters,
        responseTemplates: { "application/json": errorBody(code) },
      },
    ],
  });
  const names = Object.keys(responseParameters);
  const declared = Object.fromEntries(names.map((name) => [name, true]));
  const anyMethod = resource.addMethod("ANY", integration, {
    methodResponses: [{ statusCode, responseParameters: declared }],
  });
  const reason =
    "Everyone gets the same constant Error record; there is nothing to protect";
  Validations.of(anyMethod).acknowledge({ id: "AwsSolutions-APIG4", reason });
}
