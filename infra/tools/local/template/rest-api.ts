import { CommandError } from "../../terminal/errors.ts";
import type { Resource } from "./resources.ts";
import type { StackTemplate } from "./stack-template.ts";

export type RestApi = ReturnType<typeof readRestApi>;
export type ApiMethod = RestApi["methods"][number];
export type TokenAuthorizer = Resource<"AWS::ApiGateway::Authorizer">;

/**
 * Reads the one API of a template.
 *
 * @throws CommandError for any part of it that the local stack can't serve.
 */
export function readRestApi(template: StackTemplate) {
  const api = onlyOne(template.all("AWS::ApiGateway::RestApi"));
  const stage = onlyOne(template.all("AWS::ApiGateway::Stage"));
  const resources = template.all("AWS::ApiGateway::Resource");
  const pathOf = (id: string): string => {
    const resource = resources.find((other) => other.id === id);
    return resource === undefined
      ? ""
      : `${pathOf(resource.ParentId)}/${resource.PathPart}`;
  };
  const authorizers = template.all("AWS::ApiGateway::Authorizer");
  const methods = template.all("AWS::ApiGateway::Method").map((method) => {
    const authorizer = authorizers.find(({ id }) => id === method.AuthorizerId);
    if ((method.AuthorizationType === "NONE") !== (authorizer === undefined))
      throw new CommandError(
        `${method.id} needs CUSTOM with an authorizer of the template, or NONE without one`,
      );
    const { HttpMethod, Integration } = method;
    return {
      HttpMethod,
      Integration,
      /** Like `/store/orders/{orderId}`. */
      path: pathOf(method.ResourceId) || "/",
      /** Methods with the same one, by its id, share its cache. */
      authorizer,
    };
  });
  return {
    id: api.id,
    stageName: stage.StageName,
    methods,
    /** Each has a `type`, like `UNAUTHORIZED`. */
    gatewayResponses: template.all("AWS::ApiGateway::GatewayResponse"),
  };
}

function onlyOne<T>([only, ...others]: T[]) {
  if (only !== undefined && others.length === 0) return only;
  throw new CommandError(
    "The local stack needs a template with one REST API of one stage",
  );
}
