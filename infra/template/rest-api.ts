import type { Properties } from "./resources.ts";
import type { Resource, StackTemplate } from "./stack-template.ts";
import { TemplateError } from "./template-error.ts";

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
  /** By HTTP method; `ANY` is every method that the resource does not have on its own. */
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
  validation: RegExp;
  ttlSeconds: number;
}

/** A constant JSON response of the gateway itself. */
export interface ConstantResponse {
  headers: Record<string, string>;
  body: string;
}

export interface GatewayResponse extends ConstantResponse {
  /** Undefined: the default of its type. */
  status: number | undefined;
}

type Integration = Properties<"AWS::ApiGateway::Method">["Integration"];
export type MockIntegration = Extract<Integration, { kind: "mock" }>;
export type FunctionIntegration = Extract<Integration, { kind: "function" }> & { functionName: string };

/** Reads the one API of a template. @throws TemplateError for any part of it that the local stack can't serve. */
export function readRestApi(template: StackTemplate): RestApi {
  const [api, ...otherApis] = template.all("AWS::ApiGateway::RestApi");
  const [stage, ...otherStages] = template.all("AWS::ApiGateway::Stage");
  if (api === undefined || stage === undefined || otherApis.length + otherStages.length > 0) {
    throw new TemplateError("The local stack needs a template with one REST API of one stage");
  }
  const resources = new Map<string, ApiResource>(
    readPaths(template, `${api.id}Root`).map(([id, path]) => [id, { path, methods: new Map() }]),
  );
  const authorizers = readAuthorizers(template);
  for (const { id, properties } of template.all("AWS::ApiGateway::Method")) {
    const { AuthorizationType, AuthorizerId = "", HttpMethod, Integration, ResourceId } = properties;
    const authorizer = AuthorizationType === "NONE" ? undefined : authorizers.get(AuthorizerId);
    if (AuthorizationType !== "NONE" && !authorizer) throw new TemplateError(`The authorizer of ${id} is missing`);
    const integration =
      Integration.kind === "mock"
        ? Integration
        : { ...Integration, functionName: invokedFunction(template, Integration.uri, id) };
    resources.get(ResourceId)?.methods.set(HttpMethod, { authorizer, integration });
  }
  const gatewayResponses = template.all("AWS::ApiGateway::GatewayResponse").map(({ properties }) => {
    const { ResponseType, StatusCode: status, ResponseTemplates, ResponseParameters: headers } = properties;
    return [ResponseType, { status, headers, body: ResponseTemplates["application/json"] }] as const;
  });
  return {
    id: api.id,
    stageName: stage.properties.StageName,
    resources: [...resources.values()],
    gatewayResponses: new Map(gatewayResponses),
  };
}

/** The logical id of each resource, and its path. */
function readPaths(template: StackTemplate, rootId: string): [string, string][] {
  const children = template.all("AWS::ApiGateway::Resource");
  const below = (parentId: string, path: string): [string, string][] =>
    children
      .filter(({ properties }) => properties.ParentId === parentId)
      .flatMap(({ id, properties: { PathPart } }) => [
        [id, `${path}/${PathPart}`],
        ...below(id, `${path}/${PathPart}`),
      ]);
  return [[rootId, "/"], ...below(rootId, "")];
}

/** The authorizers of a template by logical id. Methods that share one share its cache. */
function readAuthorizers(template: StackTemplate): Map<string, TokenAuthorizer> {
  const authorizer = ({ id, properties }: Resource<"AWS::ApiGateway::Authorizer">): TokenAuthorizer => ({
    functionName: invokedFunction(template, properties.AuthorizerUri, id),
    header: properties.IdentitySource,
    validation: new RegExp(properties.IdentityValidationExpression),
    ttlSeconds: properties.AuthorizerResultTtlInSeconds,
  });
  return new Map(template.all("AWS::ApiGateway::Authorizer").map((resource) => [resource.id, authorizer(resource)]));
}

/**
 * The function whose alias the gateway invokes.
 *
 * @throws TemplateError when the URI names no alias: a deployment would then go live at once, past its canary.
 */
function invokedFunction(template: StackTemplate, uri: string, where: string): string {
  const [, arn = uri] = /\/functions\/([^/]+)\//.exec(uri) ?? [];
  const alias = template.all("AWS::Lambda::Alias").find(({ name }) => name === arn);
  if (alias === undefined) throw new TemplateError(`${where} must invoke an alias of a Lambda function, not ${arn}`);
  return alias.properties.FunctionName;
}
