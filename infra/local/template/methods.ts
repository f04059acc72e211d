import { z } from "zod";
import { StartError } from "../start-error.ts";
import { ignoring } from "./checked.ts";
import { constantBody, constantHeaders } from "./constant-response.ts";
import { invokedFunction } from "./invoked-function.ts";
import type { Template } from "./template.ts";
import { readAuthorizers, type TokenAuthorizer } from "./token-authorizers.ts";

const mockSchema = z
  .strictObject({
    Type: z.literal("MOCK"),
    PassthroughBehavior: z.literal("NEVER"),
    RequestTemplates: z.record(z.string(), z.string()),
    IntegrationResponses: z.tuple([
      z.strictObject({
        StatusCode: z.coerce.number(),
        ResponseTemplates: constantBody,
        ResponseParameters: constantHeaders("method.response.header."),
      }),
    ]),
  })
  .refine(
    ({ RequestTemplates, IntegrationResponses: [{ StatusCode }] }) =>
      Object.values(RequestTemplates).every((template) => template === JSON.stringify({ statusCode: StatusCode })),
    { path: ["RequestTemplates"], message: "every status must be that of the one response" },
  )
  .transform(({ RequestTemplates, IntegrationResponses: [{ StatusCode, ResponseTemplates, ResponseParameters }] }) => ({
    kind: "mock" as const,
    status: StatusCode,
    /** The content types that a request may have. */
    contentTypes: new Set(Object.keys(RequestTemplates)),
    headers: ResponseParameters,
    ...ResponseTemplates,
  }));

const functionSchema = z
  .strictObject({
    Type: z.literal("AWS_PROXY"),
    Uri: z.string(),
    ResponseTransferMode: z.enum(["BUFFERED", "STREAM"]).default("BUFFERED"),
    TimeoutInMillis: z.number().default(29_000),
    ...ignoring("IntegrationHttpMethod"),
  })
  .transform(({ Uri, ResponseTransferMode, TimeoutInMillis }) => ({
    kind: "function" as const,
    uri: Uri,
    streamed: ResponseTransferMode === "STREAM",
    timeoutMs: TimeoutInMillis,
  }));

const methodSchema = z.strictObject({
  HttpMethod: z.string(),
  ResourceId: z.string(),
  AuthorizationType: z.enum(["NONE", "CUSTOM"]),
  AuthorizerId: z.string().optional(),
  Integration: z.discriminatedUnion("Type", [mockSchema, functionSchema]),
  ...ignoring("MethodResponses", "OperationName", "RestApiId"),
});

export type MockIntegration = z.infer<typeof mockSchema>;
export type FunctionIntegration = z.infer<typeof functionSchema> & { functionName: string };

export interface ApiMethod {
  /** The logical id of its resource. */
  resourceId: string;
  /** `ANY`: every method that its resource does not have on its own. */
  httpMethod: string;
  authorizer: TokenAuthorizer | undefined;
  integration: MockIntegration | FunctionIntegration;
}

/** The methods of a template's API. */
export function readMethods(template: Template): ApiMethod[] {
  const authorizers = readAuthorizers(template);
  return template.all("AWS::ApiGateway::Method", methodSchema).map(({ id, properties }) => {
    const { AuthorizationType, AuthorizerId = "", HttpMethod: httpMethod, Integration, ResourceId } = properties;
    const authorizer = AuthorizationType === "NONE" ? undefined : authorizers.get(AuthorizerId);
    if (AuthorizationType !== "NONE" && !authorizer) throw new StartError(`The authorizer of ${id} is missing`);
    const integration =
      Integration.kind === "mock"
        ? Integration
        : { ...Integration, functionName: invokedFunction(template, Integration.uri, id) };
    return { resourceId: ResourceId, httpMethod, authorizer, integration };
  });
}
