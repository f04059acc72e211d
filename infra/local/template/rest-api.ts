import { CommandError } from "../../terminal/errors.ts";
import type { Properties } from "./resources.ts";
import type { StackTemplate } from "./stack-template.ts";

export type RestApi = ReturnType<typeof readRestApi>;
export type ApiMethod = RestApi["methods"][number];
export type TokenAuthorizer = Properties<"AWS::ApiGateway::Authorizer"> & { id: string };
type Integration = Properties<"AWS::ApiGateway::Method">["Integration"];
export type MockIntegration = Extract<Integration, { Type: "MOCK" }>;
export type FunctionIntegration = Extract<Integration, { Type: "AWS_PROXY" }>;
/** A constant JSON response of the gateway itself. */
export type ConstantResponse = Pick<MockIntegration, "headers" | "body">;

/**
 * Reads the one API of a template.
 *
 * @throws CommandError for any part of it that the local stack can't serve.
 */
export function readRestApi(template: StackTemplate) {
  const [api, ...otherApis] = template.all("AWS::ApiGateway::RestApi");
  const [stage, ...otherStages] = template.all("AWS::ApiGateway::Stage");
  if (api === undefined || stage === undefined || otherApis.length + otherStages.length > 0) {
    throw new CommandError("The local stack needs a template with one REST API of one stage");
  }
  const resources = new Map(
    template.all("AWS::ApiGateway::Resource").map(({ id, properties }) => [id, properties]),
  );
  const pathOf = (id: string): string => {
    const resource = resources.get(id);
    return resource === undefined ? "" : `${pathOf(resource.ParentId)}/${resource.PathPart}`;
  };
  const authorizers = template
    .all("AWS::ApiGateway::Authorizer")
    .map(({ id, properties }): TokenAuthorizer => ({ id, ...properties }));
  const methods = template.all("AWS::ApiGateway::Method").map(({ id, properties }) => {
    const { AuthorizationType, AuthorizerId, ResourceId } = properties;
    const isOpen = AuthorizationType === "NONE";
    const authorizer = isOpen ? undefined : authorizers.find((other) => other.id === AuthorizerId);
    if (!isOpen && !authorizer) throw new CommandError(`The authorizer of ${id} is missing`);
    return {
      /** Like `/store/orders/{orderId}`. */
      path: pathOf(ResourceId) || "/",
      /** `ANY` is every method that the path does not have on its own. */
      httpMethod: properties.HttpMethod,
      /** Methods with the same one, by its id, share its cache. */
      authorizer,
      integration: properties.Integration,
    };
  });
  const gatewayResponses = template
    .all("AWS::ApiGateway::GatewayResponse")
    .map(({ properties }) => {
      const { ResponseParameters: headers, ResponseTemplates: body, StatusCode } = properties;
      return [properties.ResponseType, { status: StatusCode, headers, body }] as const;
    });
  return {
    id: api.id,
    stageName: stage.properties.StageName,
    methods,
    /** By type, like `UNAUTHORIZED`. */
    gatewayResponses: new Map(gatewayResponses),
  };
}
