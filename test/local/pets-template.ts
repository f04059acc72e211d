import { readRestApi } from "../../infra/local/template/rest-api.ts";
import { StackTemplate } from "../../infra/local/template/stack-template.ts";

// Resources of a small template of a pet API, for the tests that read templates.
export const stage = { Type: "AWS::ApiGateway::Stage", Properties: { StageName: "v1" } };
export const api = { Type: "AWS::ApiGateway::RestApi", Properties: { Name: "pets" } };
export const lambda = { Type: "AWS::Lambda::Function", Properties: {} };
const alias = {
  Type: "AWS::Lambda::Alias",
  Properties: { FunctionName: { Ref: "Fn" }, Name: "live" },
};

/** The reference to the root resource. */
export const root = { "Fn::GetAtt": ["Api", "RootResourceId"] };
export const resource = (ParentId: unknown, PathPart: unknown) => ({
  Type: "AWS::ApiGateway::Resource",
  Properties: { ParentId, PathPart },
});
/** The property of a mock integration that responds with this JSON text. */
export const constant = (body: string) => ({ ResponseTemplates: { "application/json": body } });
export const mock = (ResourceId: unknown, HttpMethod: string, StatusCode: number) => ({
  Type: "AWS::ApiGateway::Method",
  Properties: {
    AuthorizationType: "NONE",
    HttpMethod,
    ResourceId,
    Integration: {
      Type: "MOCK",
      PassthroughBehavior: "NEVER",
      RequestTemplates: { "application/json": JSON.stringify({ statusCode: StatusCode }) },
      IntegrationResponses: [{ StatusCode: String(StatusCode), ...constant('{"cat":"é"}') }],
    },
  },
});

/**
 * A GET of the root that invokes the target of this reference: `Live`, the alias of the function
 * `Fn`, or another.
 */
export const invoking = (target: unknown) => ({
  Type: "AWS::ApiGateway::Method",
  Properties: {
    AuthorizationType: "NONE",
    HttpMethod: "GET",
    ResourceId: root,
    Integration: {
      Type: "AWS_PROXY",
      Uri: {
        "Fn::Join": [
          "",
          ["arn:aws:apigateway:us-east-1:lambda:path/functions/", target, "/invocations"],
        ],
      },
    },
  },
});

/** The API of a template with these resources, besides or instead of those above. */
export function petsApi(resources: object) {
  return readRestApi(
    new StackTemplate({
      Resources: { Api: api, Stage: stage, Fn: lambda, Live: alias, ...resources },
    }),
  );
}
