import type { APIGatewayProxyEvent } from "aws-lambda";

/** The id of the API key that the authorizer admitted for this request, or "" should the gateway not have asked it. */
export function callerKeyId(event: APIGatewayProxyEvent): string {
  const keyId: unknown = event.requestContext.authorizer?.["keyId"];
  return typeof keyId === "string" ? keyId : "";
}
