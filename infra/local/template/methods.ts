import { z } from "zod";
import { StartError } from "../start-error.ts";
import { checked, ignoring } from "./checked.ts";
import { type ConstantResponse, constantBody, constantHeaders } from "./constant-response.ts";
import { invokedFunction } from "./invoked-function.ts";
import type { Template } from "./template.ts";
import { readAuthorizers, type TokenAuthorizer } from "./token-authorizers.ts";

export interface ApiMethod {
  /** The logical id of its resource. */
  resourceId: string;
  /** `ANY` stands for every method that the resource has not by itself. */
  httpMethod: string;
  authorizer: TokenAuthorizer | undefined;
  integration: MockIntegration | FunctionIntegration;
}

export interface MockIntegration extends ConstantResponse {
  kind: "mock";
  status: number;
  /** The content types that a request may have. */
  contentTypes: Set<string>;
}

export interface FunctionIntegration {
  kind: "function";
  functionName: string;
  streamed: boolean;
  timeoutMs: number;
}

const mockSchema = z.strictObject({
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
});

const functionSchema = z.strictObject({
  Type: z.literal("AWS_PROXY"),
  Uri: z.string(),
  ResponseTransferMode: z.enum(["BUFFERED", "STREAM"]).default("BUFFERED"),
  TimeoutInMillis: z.number().default(29_000),
  ...ignoring("IntegrationHttpMethod"),
});

const methodSchema = z.strictObject({
  HttpMethod: z.string(),
  ResourceId: z.string(),
  AuthorizationType: z.enum(["NONE", "CUSTOM"]),
  AuthorizerId: z.string().optional(),
  Integration: z.discriminatedUnion("Type", [mockSchema, functionSchema]),
  ...ignoring("MethodResponses", "OperationName", "RestApiId"),
});

/** The methods of a template's API. @throws StartError for what of them the local stack can't do. */
export function readMethods(template: Template): ApiMethod[] {
  const authorizers = readAuthorizers(template);
  return template.all("AWS::ApiGateway::Method", methodSchema).map(({ id, properties }) => {
    const { AuthorizationType, AuthorizerId = "", HttpMethod, Integration, ResourceId } = properties;
    const authorizer = AuthorizationType === "NONE" ? undefined : authorizers.get(AuthorizerId);
    if (AuthorizationType !== "NONE" && authorizer === undefined) {
      throw new StartError(`The local stack can't find the authorizer of ${id}`);
    }
    return {
      resourceId: ResourceId,
      httpMethod: HttpMethod,
      authorizer,
      integration: Integration.Type === "MOCK" ? mock(Integration, id) : lambda(Integration, template, id),
    };
  });
}

function mock(integration: z.infer<typeof mockSchema>, id: string): MockIntegration {
  const { RequestTemplates, IntegrationResponses } = integration;
  const [{ StatusCode, ResponseTemplates, ResponseParameters }] = IntegrationResponses;
  const requestTemplate = z.literal(JSON.stringify({ statusCode: StatusCode }));
  checked(z.record(z.string(), requestTemplate), RequestTemplates, `RequestTemplates of ${id}`);
  return {
    kind: "mock",
    status: StatusCode,
    contentTypes: new Set(Object.keys(RequestTemplates)),
    headers: ResponseParameters,
    ...ResponseTemplates,
  };
}

function lambda(integration: z.infer<typeof functionSchema>, template: Template, id: string): FunctionIntegration {
  return {
    kind: "function",
    functionName: invokedFunction(template, integration.Uri, id),
    streamed: integration.ResponseTransferMode === "STREAM",
    timeoutMs: integration.TimeoutInMillis,
  };
}
