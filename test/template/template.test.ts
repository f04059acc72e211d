import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { readRestApi } from "../../infra/template/rest-api.ts";
import { StackTemplate } from "../../infra/template/stack-template.ts";
import { alias, api, invoking, lambda, mock, resource, root, stage, version } from "../helpers/pets-template.ts";

describe("intrinsic functions", () => {
  test("are resolved as CDK writes them", () => {
    const template = templateWith({
      Function: { Ref: "Fn" },
      Joined: { "Fn::Join": ["-", ["a", { Ref: "AWS::Region" }]] },
      Picked: { "Fn::Select": [1, { "Fn::Split": [":", "arn:aws:x"] }] },
      Arn: { "Fn::GetAtt": ["Fn", "Arn"] },
    });
    expect(["Function", "Joined", "Picked", "Arn"].map((name) => template.output(name))).toEqual([
      "Fn",
      "a-us-east-1",
      "aws",
      "arn:aws:lambda:us-east-1:000000000000:function:Fn",
    ]);
  });

  test.each([
    [{ "Fn::ImportValue": "x" }, '{"Fn::ImportValue":"x"}'],
    [{ "Fn::GetAtt": ["Fn", "SnapStart"] }, '{"Fn::GetAtt":["Fn","SnapStart"]}'],
    [{ "Fn::Join": ["", [{ Ref: "Fn" }, { Ref: "Nothing" }]] }, '{"Fn::Join":["",["Fn",{"Ref":"Nothing"}]]}'],
    [{ "Fn::Sub": "a-b" }, '{"Fn::Sub":"a-b"}'],
  ])("that have no value on one machine are rejected: %j", (value, named) => {
    expect(() => templateWith({ Value: value }).output("Value")).toThrow(
      `The local stack does not support ${named} in the output Value`,
    );
  });
});

describe("a resource of a type that is not served", () => {
  test("is left out and named, unless it is known to have no meaning here", () => {
    const Resources = {
      Parcels: { Type: "AWS::SQS::Queue" },
      Alarm: { Type: "AWS::CloudWatch::Alarm" },
      Association: { Type: "AWS::WAFv2::WebACLAssociation" },
      Acl: { Type: "AWS::WAFv2::WebACL" },
    };
    expect(new StackTemplate({ Resources }).leftOut).toEqual(["AWS::SQS::Queue (Parcels)", "AWS::WAFv2::WebACL (Acl)"]);
  });

  test.each(["AWS::ApiGateway::Model", "AWS::DynamoDB::GlobalTable", "AWS::Lambda::EventSourceMapping"])(
    "is rejected when it is the service's own: %s",
    (Type) => {
      expect(() => new StackTemplate({ Resources: { More: { Type } } })).toThrow(
        `The local stack does not support the resource type ${Type} (More)`,
      );
    },
  );

  test("is rejected when a resource that is served refers to it", () => {
    const PathPart = { "Fn::GetAtt": ["Parcels", "QueueName"] };
    const Resources = { Parcels: { Type: "AWS::SQS::Queue" }, Path: resource(root, PathPart) };
    expect(() => readRestApi(new StackTemplate({ Resources: { Api: api, Stage: stage, ...Resources } }))).toThrow(
      'The local stack does not support {"Fn::GetAtt":["Parcels","QueueName"]} in PathPart of',
    );
  });
});

describe("a template is rejected", () => {
  const anyMethod = mock(root, "ANY", 404);
  const { Integration, ...method } = anyMethod.Properties;
  const withIntegration = (changes: object) => ({
    ...anyMethod,
    Properties: { ...method, Integration: { ...Integration, ...changes } },
  });
  test.each([
    ["Api", { ...api, Properties: { BinaryMediaTypes: ["*/*"] } }, "BinaryMediaTypes of AWS::ApiGateway::RestApi Api"],
    ["Api", { ...api, Condition: "Sometimes" }, "Condition of Api"],
    ["Stage", { ...stage, Properties: { StageName: "v1", Variables: {} } }, "Variables of AWS::ApiGateway::Stage"],
    ["Stage", { ...stage, Properties: { StageName: 1 } }, "StageName of AWS::ApiGateway::Stage Stage: Invalid input"],
    ["Any", { ...anyMethod, Properties: { ...anyMethod.Properties, ApiKeyRequired: true } }, "ApiKeyRequired of"],
    ["Any", withIntegration({ Type: "HTTP" }), "Integration.Type of"],
    ["Any", withIntegration({ PassthroughBehavior: "WHEN_NO_MATCH" }), "Integration.PassthroughBehavior of"],
    ["Any", withIntegration({ Credentials: "arn" }), "Integration.Credentials of"],
    ["Any", withIntegration({ RequestTemplates: { "text/plain": "$input" } }), "Integration.RequestTemplates of"],
    [
      "Gone",
      {
        Type: "AWS::ApiGateway::GatewayResponse",
        Properties: { ResponseType: "THROTTLED", ResponseTemplates: { "application/json": "$context.error.message" } },
      },
      "ResponseTemplates.application/json of AWS::ApiGateway::GatewayResponse Gone: only constant text",
    ],
  ])("for what would be overlooked in %s: %j", (id, definition, named) => {
    const resources = { Api: api, Stage: stage, [id]: definition };
    expect(() => readRestApi(new StackTemplate({ Resources: resources }))).toThrow(
      `The local stack does not support ${named}`,
    );
  });
});

test.each([undefined, { Ref: "Gone" }])("a method whose authorizer is %j is not served to everyone", (AuthorizerId) => {
  const { Properties, ...any } = mock(root, "ANY", 404);
  const Any = { ...any, Properties: { ...Properties, AuthorizationType: "CUSTOM", AuthorizerId } };
  expect(() => readRestApi(new StackTemplate({ Resources: { Api: api, Stage: stage, Any } }))).toThrow(
    AuthorizerId ? '{"Ref":"Gone"} in AuthorizerId of AWS::ApiGateway::Method Any' : "The authorizer of Any is missing",
  );
});

describe("the function behind an integration", () => {
  const pets = { Api: api, Stage: stage, Fn: lambda, Version: version("Fn"), Live: alias("Fn", "Version") };
  const read = (resources: object) => readRestApi(new StackTemplate({ Resources: { ...pets, ...resources } }));

  test("is the one that the invoked alias is of", () => {
    const { methods } = read({ List: invoking({ Ref: "Live" }) });
    expect(methods).toMatchObject([{ httpMethod: "GET", integration: { functionName: "Fn" } }]);
  });

  test.each([
    [
      "the function itself",
      { "Fn::GetAtt": ["Fn", "Arn"] },
      /Integration.Uri of .* List: only an alias .*:function:Fn\//,
    ],
    ["a version", { Ref: "Version" }, /^The local stack does not support .*"Version".* in Integration.Uri of .* List$/],
    ["no function", "arn:aws:s3:::bucket", /List: only an alias of a Lambda function can be invoked, not .*:::bucket/],
  ])("is not %s", (_, target, message) => {
    expect(() => read({ List: invoking(target) })).toThrow(message);
  });

  test.each([
    ["CancelOrder", "DELETE6730C133"],
    ["ListOrders", "GETBC1A58DF"],
    ["Authorize", "BearerKeys"],
  ])("is never %s without its alias, in the service's own template", async (name, owner) => {
    const file = join(inject("assembly"), `${environments.staging.stackName}.template.json`);
    const text = await readFile(file, "utf8");
    expect(() => readRestApi(new StackTemplate(JSON.parse(text)))).not.toThrow();
    const [, functionId] = new RegExp(`"(${name}[0-9A-F]{8})"`).exec(text) ?? [];
    const unaliased: unknown = JSON.parse(text, (_key, value) =>
      String(value?.Ref).startsWith(`${name}Alias`) ? { "Fn::GetAtt": [functionId, "Arn"] } : value,
    );
    expect(() => readRestApi(new StackTemplate(unaliased))).toThrow(
      new RegExp(`${owner}\\w*: only an alias of a Lambda function can be invoked, not .*:function:${name}/[\\w-]+$`),
    );
  });
});

function templateWith(outputs: Record<string, unknown>): StackTemplate {
  return new StackTemplate({
    Resources: { Fn: lambda },
    Outputs: Object.fromEntries(Object.entries(outputs).map(([name, Value]) => [name, { Value }])),
  });
}
