import {
  AuthorizationType,
  type IResource,
  MockIntegration,
  PassthroughBehavior,
} from "aws-cdk-lib/aws-apigateway";
import { Validations } from "aws-cdk-lib/core";
import { errorBody, errors } from "../../shared/errors.ts";

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
 * an operation. No key is needed: there is nothing to protect.
 *
 * @param methods those of its operations; without any, clients get 404 for its path.
 */
export function rejectOtherMethods(resource: IResource, methods: string[]): void {
  const code = methods.length > 0 ? "method_not_allowed" : "resource_not_found";
  const statusCode = String(errors[code].status);
  const headers = {
    "Cache-Control": "no-store",
    ...(methods.length > 0 && { Allow: methods.join(", ") }),
  };
  const literals = Object.entries(headers).map(
    ([name, value]) => [`method.response.header.${name}`, `'${value}'`] as const,
  );
  const requestTemplate = JSON.stringify({ statusCode: errors[code].status });
  const integration = new MockIntegration({
    passthroughBehavior: PassthroughBehavior.NEVER,
    requestTemplates: Object.fromEntries(
      contentTypes.map((type) => [type, requestTemplate]),
    ),
    integrationResponses: [
      {
        statusCode,
        responseParameters: Object.fromEntries(literals),
        responseTemplates: { "application/json": errorBody(code) },
      },
    ],
  });
  const anyMethod = resource.addMethod("ANY", integration, {
    authorizationType: AuthorizationType.NONE,
    methodResponses: [
      {
        statusCode,
        responseParameters: Object.fromEntries(literals.map(([name]) => [name, true])),
      },
    ],
  });
  const reason =
    "Everyone gets the same constant Error record; there is nothing to protect";
  Validations.of(anyMethod).acknowledge({ id: "AwsSolutions-APIG4", reason });
}
