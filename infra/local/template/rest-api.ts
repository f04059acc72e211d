import { StartError } from "../start-error.ts";
import type { Properties } from "./properties.ts";
import type { Template } from "./template.ts";

/** The REST API that a template describes. */
export interface RestApi {
  id: string;
  stageName: string;
  resources: ApiResource[];
  /** By type, like `UNAUTHORIZED`. */
  gatewayResponses: Map<string, GatewayResponse>;
}

export interface ApiResource {
  /** Like `/store/orders/{orderId}`. */
  path: string;
  /** By HTTP method or `ANY`. */
  methods: Map<string, ApiMethod>;
}

export interface ApiMethod {
  authorizer: TokenAuthorizer | undefined;
  integration: MockIntegration | FunctionIntegration;
}

export interface TokenAuthorizer {
  functionName: string;
  /** The header that holds the token. */
  header: string;
  validation: RegExp | undefined;
  ttlSeconds: number;
}

/** A constant answer of the gateway. */
export interface LiteralResponse {
  headers: Record<string, string>;
  contentType: string;
  body: string;
}

export interface GatewayResponse extends LiteralResponse {
  /** Undefined: the type's own. */
  status: number | undefined;
}

export interface MockIntegration extends LiteralResponse {
  kind: "mock";
  status: number;
  /** The request's content types that have a template; any other is refused. */
  contentTypes: Set<string>;
}

export interface FunctionIntegration {
  kind: "function";
  functionName: string;
  streamed: boolean;
  timeoutMs: number;
}

/** Reads the one API of a template. @throws StartError for whatever of it the local stack can't do. */
export function readRestApi(template: Template): RestApi {
  const [id, ...others] = template.ids("AWS::ApiGateway::RestApi");
  const [stage, ...stages] = template.ids("AWS::ApiGateway::Stage");
  if (id === undefined || stage === undefined || others.length + stages.length > 0) {
    throw new StartError("The local stack needs a template with one REST API of one stage");
  }
  template.properties(id).nothingElse("Name", "Description", "DisableExecuteApiEndpoint", "EndpointConfiguration");
  const stageProperties = template.properties(stage);
  const stageName = stageProperties.text("StageName");
  stageProperties.nothingElse("RestApiId", "DeploymentId", "AccessLogSetting", "MethodSettings", "Description", "Tags");

  const paths = new Map([[`${id}Root`, ""]]);
  for (const resource of template.ids("AWS::ApiGateway::Resource")) addPath(template, resource, paths);
  // One object each: methods that share an authorizer share its cache.
  const authorizers = new Map(
    template.ids("AWS::ApiGateway::Authorizer").map((each) => [each, readAuthorizer(template, each)]),
  );
  const methods = template.ids("AWS::ApiGateway::Method").map((each) => readMethod(template, each, authorizers));
  return {
    id,
    stageName,
    resources: [...paths].map(([resource, path]) => ({
      path: path || "/",
      methods: new Map(methods.filter((each) => each.resource === resource).map(({ name, method }) => [name, method])),
    })),
    gatewayResponses: new Map(
      template.ids("AWS::ApiGateway::GatewayResponse").map((each) => readGatewayResponse(template, each)),
    ),
  };
}

function addPath(template: Template, id: string, paths: Map<string, string>): string {
  const known = paths.get(id);
  if (known !== undefined) return known;
  const properties = template.properties(id);
  const path = `${addPath(template, properties.text("ParentId"), paths)}/${properties.text("PathPart")}`;
  properties.nothingElse("RestApiId");
  paths.set(id, path);
  return path;
}

function readMethod(
  template: Template,
  id: string,
  authorizers: Map<string, TokenAuthorizer>,
): { resource: string; name: string; method: ApiMethod } {
  const properties = template.properties(id);
  const integration = properties.nested("Integration");
  const type = integration.text("Type");
  if (type !== "MOCK" && type !== "AWS_PROXY")
    throw new StartError(`The local stack does not support integration ${type} (${id})`);
  const open = properties.text("AuthorizationType") === "NONE";
  const authorizer = open ? undefined : authorizers.get(properties.text("AuthorizerId"));
  if (!open && authorizer === undefined) throw new StartError(`The local stack can't find the authorizer of ${id}`);
  const read = {
    resource: properties.text("ResourceId"),
    name: properties.text("HttpMethod"),
    method: {
      authorizer,
      integration: type === "MOCK" ? readMock(integration, id) : readFunctionIntegration(integration),
    },
  };
  // A method response only declares what the integration response then maps.
  properties.nothingElse("RestApiId", "MethodResponses", "OperationName");
  return read;
}

function readMock(integration: Properties, id: string): MockIntegration {
  const requestTemplates = integration.texts("RequestTemplates");
  const [response, ...others] = integration.list("IntegrationResponses");
  if (response === undefined || others.length > 0 || integration.text("PassthroughBehavior") !== "NEVER") {
    throw new StartError(`The local stack supports only NEVER and one response in a MOCK integration (${id})`);
  }
  const status = Number(response.text("StatusCode"));
  for (const template of Object.values(requestTemplates)) {
    if (template !== JSON.stringify({ statusCode: status })) {
      throw new StartError(`The local stack does not support the request template ${template} (${id})`);
    }
  }
  const mock: MockIntegration = {
    kind: "mock",
    status,
    contentTypes: new Set(Object.keys(requestTemplates)),
    ...readLiteral(response, "method.response.header.", id),
  };
  response.nothingElse();
  integration.nothingElse();
  return mock;
}

function readFunctionIntegration(integration: Properties): FunctionIntegration {
  const read: FunctionIntegration = {
    kind: "function",
    functionName: functionOfUri(integration.text("Uri")),
    streamed: integration.text("ResponseTransferMode", "BUFFERED") === "STREAM",
    timeoutMs: integration.number("TimeoutInMillis", 29_000),
  };
  integration.nothingElse("IntegrationHttpMethod");
  return read;
}

function readAuthorizer(template: Template, id: string): TokenAuthorizer {
  const properties = template.properties(id);
  const [, header] = /^method\.request\.header\.([\w-]+)$/.exec(properties.text("IdentitySource")) ?? [];
  if (properties.text("Type") !== "TOKEN" || header === undefined) {
    throw new StartError(`The local stack supports only TOKEN authorizers of a header (${id})`);
  }
  const validation = properties.text("IdentityValidationExpression", "");
  const read: TokenAuthorizer = {
    functionName: functionOfUri(properties.text("AuthorizerUri")),
    header,
    validation: validation === "" ? undefined : new RegExp(validation),
    ttlSeconds: properties.number("AuthorizerResultTtlInSeconds", 300),
  };
  properties.nothingElse("Name", "RestApiId");
  return read;
}

function readGatewayResponse(template: Template, id: string): [string, GatewayResponse] {
  const properties = template.properties(id);
  const response = {
    status: Number(properties.text("StatusCode", "0")) || undefined,
    ...readLiteral(properties, "gatewayresponse.header.", id),
  };
  const type = properties.text("ResponseType");
  properties.nothingElse("RestApiId");
  return [type, response];
}

/** Only constant headers and one constant body: no part of the gateway's template languages. */
function readLiteral(properties: Properties, headerPrefix: string, id: string): LiteralResponse {
  const [[contentType, body] = ["application/json", ""], ...others] = Object.entries(
    properties.texts("ResponseTemplates"),
  );
  if (others.length > 0 || /[$#]/.test(body))
    throw new StartError(`The local stack needs one constant response template (${id})`);
  const headers = Object.entries(properties.texts("ResponseParameters")).map(([name, value]) => {
    const [, literal] = /^'(.*)'$/.exec(value) ?? [];
    if (!name.startsWith(headerPrefix) || literal === undefined) {
      throw new StartError(`The local stack does not support the mapping ${name}: ${value} (${id})`);
    }
    return [name.slice(headerPrefix.length), literal] as const;
  });
  return { headers: Object.fromEntries(headers), contentType, body };
}

/** The function in the ARN by which the gateway invokes it, whatever its qualifier. */
function functionOfUri(uri: string): string {
  const [, name] = /\/functions\/arn:aws:lambda:[^:]*:[^:]*:function:([^:/]+)/.exec(uri) ?? [];
  if (name === undefined) throw new StartError(`The local stack can't find a function in ${uri}`);
  return name;
}
