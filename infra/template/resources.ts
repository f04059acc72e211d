import { z } from "zod";

/**
 * Properties that change nothing on one machine. A strict schema rejects every property that it
 * doesn't name.
 */
export function ignoring<Name extends string>(...names: Name[]): Record<Name, typeof ignored> {
  return Object.fromEntries(names.map((name) => [name, ignored])) as Record<Name, typeof ignored>;
}

const ignored = z.unknown().optional();

/** A header as a mapping names it, without the prefix before its name. */
const unprefixed = (prefix: string) =>
  z
    .string()
    .startsWith(prefix)
    .transform((name) => name.slice(prefix.length));

/** A literal of a mapping, without the single quotes around it. */
const literal = z
  .string()
  .regex(/^'.*'$/, "only literals are supported")
  .transform((text) => text.slice(1, -1));

/** The headers of a constant response. */
const constantHeaders = (prefix: string) => z.record(unprefixed(prefix), literal).default({});

const constantBody = z
  .strictObject({
    "application/json": z
      .string()
      .regex(/^[^$#]*$/, "only constant text is supported, no template language"),
  })
  .transform((templates) => templates["application/json"]);

const alias = /\/functions\/[^/]+:function:([^:/]+):[^:/]+\//;

/**
 * The name of the function whose alias a URI invokes. Past its alias, a deployment would go live at
 * once.
 */
const aliasedFunction = z
  .string()
  .regex(alias, {
    error: ({ input }) => `only an alias of a Lambda function can be invoked, not ${input}`,
  })
  .transform((uri) => alias.exec(uri)?.[1] ?? "");

const mockIntegration = z
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
      Object.values(RequestTemplates).every(
        (template) => template === JSON.stringify({ statusCode: StatusCode }),
      ),
    { path: ["RequestTemplates"], message: "every status must be that of the one response" },
  )
  .transform(({ Type, RequestTemplates, IntegrationResponses: [response] }) => ({
    Type,
    status: response.StatusCode,
    /** The content types that a request may have. */
    contentTypes: new Set(Object.keys(RequestTemplates)),
    headers: response.ResponseParameters,
    body: response.ResponseTemplates,
  }));

const functionIntegration = z.strictObject({
  Type: z.literal("AWS_PROXY"),
  Uri: aliasedFunction,
  ResponseTransferMode: z.enum(["BUFFERED", "STREAM"]).default("BUFFERED"),
  TimeoutInMillis: z.number().default(29_000),
  ...ignoring("IntegrationHttpMethod"),
});

const runtime = `nodejs${process.versions.node.split(".")[0]}.x`;

/** The resource types that the local stack serves, each with the properties that it understands. */
export const resourceSchemas = {
  "AWS::ApiGateway::Authorizer": z.strictObject({
    Type: z.literal("TOKEN"),
    AuthorizerUri: aliasedFunction,
    IdentitySource: unprefixed("method.request.header."),
    IdentityValidationExpression: z.string().transform((expression) => new RegExp(expression)),
    AuthorizerResultTtlInSeconds: z.number(),
    ...ignoring("Name", "RestApiId"),
  }),
  "AWS::ApiGateway::GatewayResponse": z.strictObject({
    ResponseType: z.string(),
    StatusCode: z.coerce.number().optional(),
    ResponseTemplates: constantBody,
    ResponseParameters: constantHeaders("gatewayresponse.header."),
    ...ignoring("RestApiId"),
  }),
  "AWS::ApiGateway::Method": z.strictObject({
    HttpMethod: z.string(),
    ResourceId: z.string(),
    AuthorizationType: z.enum(["NONE", "CUSTOM"]),
    AuthorizerId: z.string().optional(),
    Integration: z.discriminatedUnion("Type", [mockIntegration, functionIntegration]),
    ...ignoring("MethodResponses", "OperationName", "RestApiId"),
  }),
  "AWS::ApiGateway::Resource": z.strictObject({
    ParentId: z.string(),
    PathPart: z.string().regex(/^(?:[^{}]+|\{[a-z]\w*\+?\})$/i),
    ...ignoring("RestApiId"),
  }),
  "AWS::ApiGateway::RestApi": z.strictObject({
    ...ignoring("Name", "Description", "DisableExecuteApiEndpoint", "EndpointConfiguration"),
    ...ignoring("EndpointAccessMode", "SecurityPolicy", "Tags"),
  }),
  "AWS::ApiGateway::Stage": z.strictObject({
    StageName: z.string(),
    ...ignoring("AccessLogSetting", "DeploymentId", "Description", "MethodSettings"),
    ...ignoring("RestApiId", "Tags"),
  }),
  "AWS::DynamoDB::Table": z.strictObject({
    KeySchema: z.array(
      z.strictObject({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) }),
    ),
    AttributeDefinitions: z.array(
      z.strictObject({ AttributeName: z.string(), AttributeType: z.enum(["B", "N", "S"]) }),
    ),
    BillingMode: z.literal("PAY_PER_REQUEST"),
    TableName: z.string().optional(),
    StreamSpecification: z
      .strictObject({ StreamViewType: z.literal("NEW_AND_OLD_IMAGES") })
      .optional(),
    ...ignoring("DeletionProtectionEnabled", "OnDemandThroughput", "ResourcePolicy", "Tags"),
    ...ignoring("PointInTimeRecoverySpecification", "SSESpecification"),
  }),
  "AWS::Lambda::Alias": z.strictObject({
    Name: z.string(),
    FunctionName: z.string(),
    ...ignoring("Description", "FunctionVersion"),
  }),
  "AWS::Lambda::Function": z.strictObject({
    Code: z.strictObject({ S3Key: z.string(), ...ignoring("S3Bucket") }),
    Handler: z.string(),
    Runtime: z.literal(runtime, `only ${runtime}, which runs here, is supported`),
    Timeout: z.number(),
    MemorySize: z.number(),
    Environment: z.strictObject({ Variables: z.record(z.string(), z.string()) }),
    LoggingConfig: z.strictObject({
      LogFormat: z.string(),
      ApplicationLogLevel: z.string(),
      ...ignoring("LogGroup", "SystemLogLevel"),
    }),
    ...ignoring("Architectures", "Description", "ReservedConcurrentExecutions", "Role", "Tags"),
  }),
};

export type ServedType = keyof typeof resourceSchemas;

/** The properties of a resource of this type, read. */
export type Properties<T extends ServedType> = z.infer<(typeof resourceSchemas)[T]>;

/** Whether the local stack serves resources of this type. */
export function isServed(type: string): type is ServedType {
  return type in resourceSchemas;
}
