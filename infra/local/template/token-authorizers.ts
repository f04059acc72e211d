import { z } from "zod";
import { ignoring } from "./checked.ts";
import { invokedFunction } from "./invoked-function.ts";
import type { Template } from "./template.ts";

export interface TokenAuthorizer {
  functionName: string;
  /** The header that holds the token. */
  header: string;
  validation: RegExp | undefined;
  ttlSeconds: number;
}

const headerPrefix = "method.request.header.";

const authorizerSchema = z.strictObject({
  Type: z.literal("TOKEN"),
  AuthorizerUri: z.string(),
  IdentitySource: z
    .string()
    .startsWith(headerPrefix)
    .transform((source) => source.slice(headerPrefix.length)),
  IdentityValidationExpression: z
    .string()
    .transform((expression) => new RegExp(expression))
    .optional(),
  AuthorizerResultTtlInSeconds: z.number().default(300),
  ...ignoring("Name", "RestApiId"),
});

/** The authorizers of a template by logical id. Methods that share one share its cache. */
export function readAuthorizers(template: Template): Map<string, TokenAuthorizer> {
  return new Map(
    template.all("AWS::ApiGateway::Authorizer", authorizerSchema).map(({ id, properties }) => [
      id,
      {
        functionName: invokedFunction(template, properties.AuthorizerUri, id),
        header: properties.IdentitySource,
        validation: properties.IdentityValidationExpression,
        ttlSeconds: properties.AuthorizerResultTtlInSeconds,
      },
    ]),
  );
}
