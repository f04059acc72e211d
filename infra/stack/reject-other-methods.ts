import { Validations } from "aws-cdk-lib";
import { AuthorizationType, type IResource, MockIntegration, PassthroughBehavior } from "aws-cdk-lib/aws-apigateway";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";

// The gateway picks a request template by the request's content type, and one without a template is 415.
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
 * Lets the gateway itself answer every method that the resource has no operation for with an Error record. It asks for
 * no key: there is nothing behind it, and the truth is the same for everyone.
 *
 * @param headers literal values of further headers of the answer.
 */
export function rejectOtherMethods(resource: IResource, code: ErrorCode, headers: Record<string, string> = {}): void {
  const statusCode = String(errors[code].status);
  const literals = Object.entries({ "Cache-Control": "no-store", ...headers }).map(
    ([name, value]) => [`method.response.header.${name}`, `'${value}'`] as const,
  );
  const integration = new MockIntegration({
    passthroughBehavior: PassthroughBehavior.NEVER,
    requestTemplates: Object.fromEntries(
      contentTypes.map((type) => [type, JSON.stringify({ statusCode: errors[code].status })]),
    ),
    integrationResponses: [
      {
        statusCode,
        responseParameters: Object.fromEntries(literals),
        responseTemplates: { "application/json": errorBody(code) },
      },
    ],
  });
  const method = resource.addMethod("ANY", integration, {
    authorizationType: AuthorizationType.NONE,
    methodResponses: [{ statusCode, responseParameters: Object.fromEntries(literals.map(([name]) => [name, true])) }],
  });
  Validations.of(method).acknowledge(
    { id: "AwsSolutions-APIG4", reason: "Answers a constant Error record to everyone; there is nothing to protect" },
    { id: "AwsSolutions-COG4", reason: "Answers a constant Error record to everyone; there is nothing to protect" },
  );
}
