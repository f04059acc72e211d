/** Resources of a small template of a pet API, for the tests of how templates are read. */
export const stage = { Type: "AWS::ApiGateway::Stage", Properties: { StageName: "v1" } };
export const api = { Type: "AWS::ApiGateway::RestApi", Properties: { Name: "pets" } };
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
      IntegrationResponses: [{ StatusCode: String(StatusCode), ResponseTemplates: { "application/json": "{}" } }],
    },
  },
});
export const resource = (ParentId: unknown, PathPart: unknown) => ({
  Type: "AWS::ApiGateway::Resource",
  Properties: { ParentId, PathPart },
});
/** The reference to the root resource. */
export const root = { "Fn::GetAtt": ["Api", "RootResourceId"] };

export const lambda = { Type: "AWS::Lambda::Function", Properties: {} };
export const version = (functionId: string) => ({
  Type: "AWS::Lambda::Version",
  Properties: { FunctionName: { Ref: functionId } },
});
export const alias = (functionId: string, versionId: string) => ({
  Type: "AWS::Lambda::Alias",
  Properties: {
    FunctionName: { Ref: functionId },
    FunctionVersion: { "Fn::GetAtt": [versionId, "Version"] },
    Name: "live",
  },
});

/** A GET of the root that invokes the target of this reference. */
export const invoking = (target: unknown) => ({
  Type: "AWS::ApiGateway::Method",
  Properties: {
    AuthorizationType: "NONE",
    HttpMethod: "GET",
    ResourceId: root,
    Integration: {
      Type: "AWS_PROXY",
      Uri: { "Fn::Join": ["", ["arn:aws:apigateway:us-east-1:lambda:path/functions/", target, "/invocations"]] },
    },
  },
});
