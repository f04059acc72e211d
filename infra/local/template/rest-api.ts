import { CommandError } from "../../terminal/errors.ts";
import type { Properties } from "./resources.ts";
import type { StackTemplate } from "./stack-template.ts";

export type RestApi = ReturnType<typeof readRestApi>;
export type ApiMethod = RestApi["methods"][number];
export type TokenAuthorizer = Properties<"AWS::ApiGateway::Authorizer"> & { id: string };
export type MockIntegration = Extract<ApiMethod["integration"], { Type: "MOCK" }>;

/**
 * Reads the one API of a template.
 *
 * @throws CommandError for any part of it that the local stack can't serve.
 */
export function readRestApi(template: StackTemplate) {
  const [api, ...otherApis] = template.all("AWS::ApiGateway::RestApi");
  const [stage, ...otherStages] = template.all("AWS::ApiGateway::Stage");
  if (
    api === undefined ||
    stage === undefined ||
    otherApis.length + otherStages.length > 0
  ) {
    throw new CommandError(
      "The local stack needs a template with one REST API of one stage",
    );
  }
  const resources = template.all("AWS::ApiGateway::Resource");
  const pathOf = (id: string): string => {
    const resource = resources.find((other) => other.id === id);
    return resource === undefined
      ? ""
      : `${pathOf(resource.ParentId)}/${resource.PathPart}`;
  };
  const authorizers = template.all("AWS::ApiGateway::Authorizer");
  const methods = template.all("AWS::ApiGateway::Method").map((method) => {
    const isOpen = method.AuthorizationType === "NONE";
    const authorizer = authorizers.find(({ id }) => !isOpen && id === method.AuthorizerId);
    if (!isOpen && !authorizer)
      throw new CommandError(`The authorizer of ${method.id} is missing`);
    return {
      /** Like `/store/orders/{orderId}`. */
      path: pathOf(method.ResourceId) || "/",
      /** `ANY` is every method that the path does not have on its own. */
      httpMethod: method.HttpMethod,
      /** Methods with the same one, by its id, share its cache. */
      authorizer,
      integration: method.Integration,
    };
  });
  const gatewayResponses = template
    .all("AWS::ApiGateway::GatewayResponse")
    .map(
      ({
        ResponseType,
        StatusCode: status,
        ResponseParameters: headers,
        ResponseTemplates,
      }) => [ResponseType, { status, headers, body: ResponseTemplates }] as const,
    );
  return {
    id: api.id,
    stageName: stage.StageName,
    methods,
    /** By type, like `UNAUTHORIZED`. */
    gatewayResponses: new Map(gatewayResponses),
  };
}
