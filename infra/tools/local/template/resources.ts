import type { AttributeDefinition, KeySchemaElement } from "@aws-sdk/client-dynamodb";
import { z } from "zod";

/** Names that change nothing on one machine, wherever they stand in a template. */
const ignoredProperties = [
  "AccessLogSetting",
  "Architectures",
  "DeletionPolicy",
  "DeletionProtectionEnabled",
  "DependsOn",
  "DeploymentId",
  "Description",
  "DisableExecuteApiEndpoint",
  "EndpointAccessMode",
  "EndpointConfiguration",
  "IntegrationHttpMethod",
  "LogGroup",
  "Metadata",
  "MethodResponses",
  "MethodSettings",
  "Name",
  "OnDemandThroughput",
  "PointInTimeRecoverySpecification",
  "ReservedConcurrentExecutions",
  "ResourcePolicy",
  "RestApiId",
  "Role",
  "S3Bucket",
  "SecurityPolicy",
  "SystemLogLevel",
  "Tags",
  "UpdateReplacePolicy",
];
const nothing = z.undefined().catch(undefined);
const ignored: object = Object.fromEntries(
  ignoredProperties.map((name) => [name, nothing]),
);

const text = z.string();

/** A schema that rejects every property that it doesn't name, unless that is ignored. */
function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject({ ...ignored, ...shape });
}

/** A header as a mapping names it, without the prefix before its name. */
const unprefixed = (prefix: string) =>
  text.startsWith(prefix).transform((name) => name.slice(prefix.length));

/** A literal of a mapping, without the single quotes around it. */
const literal = text
  .regex(/^'.*'$/, "only literals are supported")
  .transform((quoted) => quoted.slice(1, -1));

const constantBody = z
  .strictObject({
    "application/json": text.regex(
      /^[^$#]*$/,
      "only constant text is supported, no template language",
    ),
  })
  .transform((templates) => templates["application/json"]);

const alias = /\/functions\/[^/]+:function:([^:/]+):[^:/]+\//;

/**
 * The name of the function whose alias a URI invokes. Past its alias, a deployment would go live at
 * once.
 */
const aliasedFunction = text
  .regex(alias, "only an alias of a Lambda function can be invoked")
  .transform((uri) => alias.exec(uri)?.[1] ?? "");

/** A constant response. Each type of gateway response has a usual status of its own. */
const constantResponse = (headerPrefix: string) =>
  strict({
    ResponseType: text.default(""),
    StatusCode: z.coerce.number().optional(),
    ResponseTemplates: constantBody,
    ResponseParameters: z.record(unprefixed(headerPrefix), literal).default({}),
  }).transform((response) => ({
    type: response.ResponseType,
    status: response.StatusCode,
    headers: response.ResponseParameters,
    body: response.ResponseTemplates,
  }));

/** The template that chooses a status; API Gateway takes the one response for any. */
const constantStatus = text.regex(/^\{"statusCode":\d+\}$/, "only a status is supported");

const mockIntegration = z.strictObject({
  Type: z.literal("MOCK"),
  PassthroughBehavior: z.literal("NEVER"),
  /** By the content types that a request may have. */
  RequestTemplates: z.record(text, constantStatus),
  IntegrationResponses: z.tuple([
    constantResponse("method.response.header.").refine(
      ({ status }) => status !== undefined,
      "a status is needed",
    ),
  ]),
});

const functionIntegration = strict({
  Type: z.literal("AWS_PROXY"),
  Uri: aliasedFunction,
  ResponseTransferMode: z.enum(["BUFFERED", "STREAM"]).default("BUFFERED"),
  TimeoutInMillis: z.number().default(29_000),
});

/** The resource types that the local stack serves, each with the properties that it understands. */
const resourceSchemas = {
  "AWS::ApiGateway::Authorizer": strict({
    Type: z.literal("TOKEN"),
    AuthorizerUri: aliasedFunction,
    IdentitySource: unprefixed("method.request.header."),
    IdentityValidationExpression: text.transform((expression) => new RegExp(expression)),
    AuthorizerResultTtlInSeconds: z.number(),
  }),
  "AWS::ApiGateway::GatewayResponse": constantResponse("gatewayresponse.header."),
  "AWS::ApiGateway::Method": strict({
    /** `ANY` is every method that the path does not have on its own. */
    HttpMethod: text,
    ResourceId: text,
    AuthorizationType: z.enum(["NONE", "CUSTOM"]),
    AuthorizerId: text.optional(),
    Integration: z.discriminatedUnion("Type", [mockIntegration, functionIntegration]),
  }),
  "AWS::ApiGateway::Resource": strict({
    ParentId: text,
    PathPart: text.regex(/^(?:[^{}]+|\{[a-z]\w*\+?\})$/i),
  }),
  "AWS::ApiGateway::RestApi": strict({}),
  "AWS::ApiGateway::Stage": strict({
    StageName: text,
  }),
  "AWS::DynamoDB::Table": strict({
    // DynamoDB's own, which the engine checks.
    KeySchema: z.custom<KeySchemaElement[]>(),
    AttributeDefinitions: z.custom<AttributeDefinition[]>(),
    BillingMode: z.literal("PAY_PER_REQUEST"),
    StreamSpecification: z
      .strictObject({
        StreamEnabled: z.literal(true).default(true),
        StreamViewType: z.literal("NEW_AND_OLD_IMAGES"),
      })
      .optional(),
  }),
  "AWS::Lambda::Function": strict({
    Code: strict({
      S3Key: text,
    }),
    Handler: text,
    // Node.js 24 runs here.
    Runtime: z.literal("nodejs24.x"),
    Timeout: z.number(),
    MemorySize: z.number(),
    Environment: strict({
      Variables: z.record(text, text),
    }),
    LoggingConfig: strict({
      LogFormat: text,
      ApplicationLogLevel: text,
    }),
  }),
};

export type ServedType = keyof typeof resourceSchemas;

/** The properties of a resource as the local stack reads them. */
export type Properties<T extends ServedType> = z.infer<(typeof resourceSchemas)[T]>;

/** A resource: its properties, its logical id, and the value of a `Ref` to it. */
export type Resource<T extends ServedType> = Properties<T> & { id: string; name: string };

/** Whether the local stack serves resources of this type. */
export function isServed(type: string): type is ServedType {
  return type in resourceSchemas;
}

/** A template; its resources have schemas of their own. */
export const templateSchema = strict({
  Conditions: nothing,
  Parameters: nothing,
  Rules: nothing,
  Resources: z.record(
    text,
    z.looseObject({ Type: text, Properties: z.record(text, z.unknown()).default({}) }),
  ),
  Outputs: z.record(text, z.object({ Value: z.unknown() })).default({}),
});

/** A whole resource of a type. */
export function resourceSchema(type: ServedType) {
  const Properties: z.ZodType = resourceSchemas[type];
  return strict({ Type: text, Properties });
}
