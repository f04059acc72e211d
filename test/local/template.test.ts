import { describe, expect, test } from "vitest";
import { matchRoute } from "../../infra/local/gateway/routes.ts";
import { readRestApi } from "../../infra/local/template/rest-api.ts";
import { Template } from "../../infra/local/template/template.ts";

const stage = { Type: "AWS::ApiGateway::Stage", Properties: { StageName: "v1" } };
const api = { Type: "AWS::ApiGateway::RestApi", Properties: { Name: "pets" } };
const mock = (ResourceId: unknown, HttpMethod: string, StatusCode: number) => ({
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
const resource = (ParentId: unknown, PathPart: string) => ({
  Type: "AWS::ApiGateway::Resource",
  Properties: { ParentId, PathPart },
});
const root = { "Fn::GetAtt": ["Api", "RootResourceId"] };

describe("the template of a local stack", () => {
  test("resolves the intrinsic functions that CDK writes", () => {
    const { output } = templateWith({
      Topic: { Ref: "Fn" },
      Joined: { "Fn::Join": ["-", ["a", { Ref: "AWS::Region" }]] },
      Picked: { "Fn::Select": [1, { "Fn::Split": [":", "arn:aws:x"] }] },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is CloudFormation's placeholder
      Substituted: { "Fn::Sub": "${AWS::Partition}/${Fn}" },
      Arn: { "Fn::GetAtt": ["Fn", "Arn"] },
    });
    expect(["Topic", "Joined", "Picked", "Substituted", "Arn"].map(output)).toEqual([
      "Fn",
      "a-us-east-1",
      "aws",
      "aws/Fn",
      "arn:aws:lambda:us-east-1:000000000000:function:Fn",
    ]);
  });

  test("is refused when it has a resource of a type that is not served here", () => {
    expect(() => new Template({ Resources: { Queue: { Type: "AWS::SQS::Queue" } } })).toThrow(
      "The local stack does not support the resource type AWS::SQS::Queue (Queue)",
    );
  });

  test.each([
    [{ "Fn::ImportValue": "x" }, "Fn::ImportValue"],
    [{ "Fn::GetAtt": ["Fn", "SnapStart"] }, "Fn::GetAtt of AWS::Lambda::Function.SnapStart"],
  ])("is refused when it uses %j", (value, named) => {
    expect(() => templateWith({ Value: value }).output("Value")).toThrow(`The local stack does not support ${named}`);
  });

  test.each([
    ["Api", { ...api, Properties: { BinaryMediaTypes: ["*/*"] } }, "BinaryMediaTypes"],
    ["Stage", { ...stage, Properties: { StageName: "v1", Variables: {} } }, "Variables"],
    [
      "Any",
      { ...mock(root, "ANY", 404), Properties: { ...mock(root, "ANY", 404).Properties, ApiKeyRequired: true } },
      "ApiKeyRequired",
    ],
  ])("is refused when %s has a property that would be overlooked", (id, definition, property) => {
    const template = new Template({ Resources: { Api: api, Stage: stage, [id]: definition } });
    expect(() => readRestApi(template)).toThrow(`The local stack does not support ${property} of `);
  });
});

describe("a route", () => {
  const { resources } = readRestApi(
    new Template({
      Resources: {
        Api: api,
        Stage: stage,
        Pets: resource(root, "pets"),
        Pet: resource({ Ref: "Pets" }, "{petId}"),
        Best: resource({ Ref: "Pets" }, "best"),
        Proxy: resource(root, "{proxy+}"),
        ListPets: mock({ Ref: "Pets" }, "GET", 200),
        GetPet: mock({ Ref: "Pet" }, "GET", 201),
        AnyPet: mock({ Ref: "Pet" }, "ANY", 202),
        BestPet: mock({ Ref: "Best" }, "GET", 203),
        Else: mock({ Ref: "Proxy" }, "ANY", 404),
      },
    }),
  );

  test.each([
    ["GET", "/pets", "/pets", {}],
    ["GET", "/pets/", "/pets", {}],
    ["GET", "/pets/best", "/pets/best", {}],
    ["GET", "/pets/a%20b%2Fc", "/pets/{petId}", { petId: "a b/c" }],
    ["GET", "/pets/%zz", "/pets/{petId}", { petId: "%zz" }],
    ["PUT", "/pets/1", "/pets/{petId}", { petId: "1" }],
    ["PUT", "/pets/best", "/pets/{petId}", { petId: "best" }],
    ["PUT", "/pets", "/{proxy+}", { proxy: "pets" }],
    ["GET", "/pets//1", "/{proxy+}", { proxy: "pets//1" }],
    ["GET", "/cats/1/2", "/{proxy+}", { proxy: "cats/1/2" }],
  ])("for %s %s is %s", (method, path, resourcePath, parameters) => {
    const route = matchRoute(resources, method, path);
    expect([route?.resource.path, route?.parameters]).toEqual([resourcePath, parameters]);
  });

  test("is none for the root, which a greedy parameter does not cover", () => {
    expect(matchRoute(resources, "GET", "/")).toBeUndefined();
  });
});

function templateWith(outputs: Record<string, unknown>): { output: (name: string) => string } {
  const template = new Template({
    Resources: { Fn: { Type: "AWS::Lambda::Function", Properties: {} } },
    Outputs: Object.fromEntries(Object.entries(outputs).map(([name, Value]) => [name, { Value }])),
  });
  return { output: (name) => template.output(name) };
}
