import { describe, expect, test } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { isServed, resourceSchemas } from "../../../infra/local/template/resources.ts";
import { StackTemplate } from "../../../infra/local/template/stack-template.ts";
import { everyOption, noOption } from "../../helpers/fixture-environments.ts";
import { templateOf } from "../../helpers/synthesise.ts";
import {
  api,
  constant,
  invoking,
  lambda,
  mock,
  petsApi,
  resource,
  root,
  stage,
} from "../pets-template.ts";

const templateWith = (Value: unknown) =>
  new StackTemplate({ Resources: { Fn: lambda }, Outputs: { Wanted: { Value } } });

test.each([everyOption, noOption])(
  "every resource of the stack is supported with the settings of $name",
  (environment) => {
    const template = new StackTemplate(templateOf(environment).toJSON());
    expect(template.notServed).toEqual([]);
    for (const type of Object.keys(resourceSchemas)) if (isServed(type)) template.all(type);
  },
);

describe("an intrinsic function", () => {
  test.each([
    [{ Ref: "Fn" }, "Fn"],
    [{ "Fn::Join": ["-", ["a", { Ref: "AWS::Region" }]] }, "a-us-east-1"],
    [{ "Fn::Select": [1, { "Fn::Split": [":", "arn:aws:x"] }] }, "aws"],
    [{ "Fn::GetAtt": ["Fn", "Arn"] }, "arn:aws:lambda:us-east-1:000000000000:function:Fn"],
  ])("is resolved: %j", (value, result) => {
    expect(templateWith(value).output("Wanted")).toBe(result);
  });

  test.each([
    [{ "Fn::ImportValue": "x" }, '{"Fn::ImportValue":"x"} in'],
    [{ "Fn::GetAtt": ["Fn", "SnapStart"] }, '{"Fn::GetAtt":["Fn","SnapStart"]} in'],
    [
      { "Fn::Join": ["", [{ Ref: "Fn" }, { Ref: "Nothing" }]] },
      '{"Fn::Join":["",["Fn",{"Ref":"Nothing"}]]} in',
    ],
    [{ "Fn::Sub": "a-b" }, '{"Fn::Sub":"a-b"} in'],
    [{ Ref: "Fn", Else: "" }, ""],
  ])("that is not supported is rejected: %j", (value, named) => {
    expect(() => templateWith(value).output("Wanted")).toThrow(
      `The local stack does not support ${named}`,
    );
  });
});

describe("a resource of an unsupported type", () => {
  const notServed = (Type: string) =>
    new StackTemplate({ Resources: { Part: { Type } } }).notServed;

  test.each(["AWS::SQS::Queue", "AWS::WAFv2::WebACL"])("is listed as left out: %s", (type) => {
    expect(notServed(type)).toEqual([`${type} (Part)`]);
  });

  test.each(["AWS::CloudWatch::Alarm", "AWS::WAFv2::WebACLAssociation"])(
    "is left out silently when it has no meaning on one machine: %s",
    (type) => {
      expect(notServed(type)).toEqual([]);
    },
  );

  test.each([
    "AWS::ApiGateway::Model",
    "AWS::DynamoDB::GlobalTable",
    "AWS::Lambda::EventSourceMapping",
  ])("is rejected when it is of API Gateway, DynamoDB or Lambda: %s", (Type) => {
    expect(() => new StackTemplate({ Resources: { More: { Type } } })).toThrow(
      `The local stack does not support the resource type ${Type} (More)`,
    );
  });

  test("is rejected when a supported resource refers to it", () => {
    const PathPart = { "Fn::GetAtt": ["Parcels", "QueueName"] };
    expect(() =>
      petsApi({ Parcels: { Type: "AWS::SQS::Queue" }, Path: resource(root, PathPart) }),
    ).toThrow(
      'The local stack does not support {"Fn::GetAtt":["Parcels","QueueName"]} in PathPart of',
    );
  });
});

describe("an API is rejected", () => {
  const any = mock(root, "ANY", 404);
  const { Integration } = any.Properties;
  const [response] = Integration.IntegrationResponses;
  const templates = { ...Integration.RequestTemplates, "text/plain": "$input" };
  const method = (changes: object) => ({
    Any: { ...any, Properties: { ...any.Properties, ...changes } },
  });
  const integration = (changes: object) => method({ Integration: { ...Integration, ...changes } });
  const mocked = (changes: object) =>
    integration({ IntegrationResponses: [{ ...response, ...changes }] });
  const authorizer = (changes: object) => ({
    Keys: {
      Type: "AWS::ApiGateway::Authorizer",
      Properties: {
        Type: "TOKEN",
        AuthorizerUri: invoking({ Ref: "Live" }).Properties.Integration.Uri,
        IdentitySource: "method.request.header.Authorization",
        IdentityValidationExpression: "^cat$",
        AuthorizerResultTtlInSeconds: 10,
        ...changes,
      },
    },
  });
  const gatewayResponse = { ResponseType: "THROTTLED", ...constant("$context.error.message") };

  test.each<[string, object]>([
    [
      "BinaryMediaTypes of AWS::ApiGateway::RestApi Api",
      { Api: { ...api, Properties: { BinaryMediaTypes: ["*/*"] } } },
    ],
    ["Condition of Api", { Api: { ...api, Condition: "Sometimes" } }],
    [
      "StageName of AWS::ApiGateway::Stage Stage",
      { Stage: { ...stage, Properties: { StageName: 1 } } },
    ],
    ["AuthorizationType of AWS::ApiGateway::Method Any", method({ AuthorizationType: "AWS_IAM" })],
    ["ApiKeyRequired of", method({ ApiKeyRequired: true })],
    ["Integration.Type of", integration({ Type: "HTTP" })],
    ["Integration.PassthroughBehavior of", integration({ PassthroughBehavior: "WHEN_NO_MATCH" })],
    ["Integration.RequestTemplates of", integration({ RequestTemplates: templates })],
    [
      "Integration.IntegrationResponses",
      integration({ IntegrationResponses: [response, response] }),
    ],
    ["Integration.IntegrationResponses.0.SelectionPattern", mocked({ SelectionPattern: "" })],
    [
      "Integration.IntegrationResponses.0.ResponseParameters",
      mocked({
        ResponseParameters: { "method.response.header.X-Pet": "integration.response.header.X-Pet" },
      }),
    ],
    [
      "Integration.IntegrationResponses.0.ResponseTemplates.application/json",
      mocked(constant("#end")),
    ],
    [
      "ResponseTemplates.application/json of AWS::ApiGateway::GatewayResponse Gone: only constant text",
      { Gone: { Type: "AWS::ApiGateway::GatewayResponse", Properties: gatewayResponse } },
    ],
    ["Type of AWS::ApiGateway::Authorizer Keys", authorizer({ Type: "REQUEST" })],
    [
      "AuthorizerUri of AWS::ApiGateway::Authorizer",
      authorizer({ AuthorizerUri: "arn:aws:s3:::bucket" }),
    ],
    [
      "IdentitySource of AWS::ApiGateway::Authorizer",
      authorizer({ IdentitySource: "method.request.querystring.key" }),
    ],
    ["PathPart of AWS::ApiGateway::Resource Pets", { Pets: resource(root, "{pet-id}") }],
    ["PathPart of AWS::ApiGateway::Resource Pets", { Pets: resource(root, "pet-{id}") }],
  ])("for a setting that the local stack would ignore: %s %#", (named, resources) => {
    expect(() => petsApi({ Any: any, ...authorizer({}) })).not.toThrow();
    expect(() => petsApi(resources)).toThrow(`The local stack does not support ${named}`);
  });

  test.each([
    ["with another API", { OtherApi: api }],
    ["with another stage", { OtherStage: stage }],
    ["without a stage", { Stage: { Type: "AWS::IAM::Role" } }],
  ])("for a template %s", (_, resources) => {
    expect(() => petsApi(resources)).toThrow(
      "The local stack needs a template with one REST API of one stage",
    );
  });

  test.each([
    ["not named", undefined, "The authorizer of Any is missing"],
    ["not in the template", "imported", "The authorizer of Any is missing"],
    ["a reference to nothing", { Ref: "Gone" }, '{"Ref":"Gone"} in AuthorizerId of'],
  ])("for a method whose authorizer is %s", (_, AuthorizerId, message) => {
    const unauthorized = method({ AuthorizationType: "CUSTOM", AuthorizerId });
    expect(() => petsApi(unauthorized)).toThrow(message);
  });
});

describe("the function behind an integration", () => {
  const { methods } = petsApi({ List: invoking({ Ref: "Live" }) });

  test("is the one that the invoked alias points to", () => {
    expect(methods).toMatchObject([{ integration: { Type: "AWS_PROXY", Uri: "Fn" } }]);
  });

  test("has its response buffered by default", () => {
    expect(methods).toMatchObject([{ integration: { ResponseTransferMode: "BUFFERED" } }]);
  });

  test("has 29 seconds by default", () => {
    expect(methods).toMatchObject([{ integration: { TimeoutInMillis: 29_000 } }]);
  });

  test.each([
    [
      "a version",
      { Ref: "Version" },
      /^The local stack does not support .*"Version".* in Integration.Uri of .* List$/,
    ],
    [
      "a function without its alias",
      { "Fn::GetAtt": ["Fn", "Arn"] },
      /List: only an alias of .*:function:Fn/,
    ],
    [
      "not a function",
      "arn:aws:s3:::bucket",
      /List: only an alias of a Lambda function can be invoked, not .*:::bucket/,
    ],
  ])("is rejected when it is %s", (_, target, message) => {
    expect(() => petsApi({ List: invoking(target) })).toThrow(message);
  });
});

const tableProperties = {
  KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
  AttributeDefinitions: [{ AttributeName: "id", AttributeType: "N" }],
  BillingMode: "PAY_PER_REQUEST",
};

describe("a function or table", () => {
  const functionProperties = {
    Code: { S3Bucket: "assets", S3Key: "cat.zip" },
    Handler: "index.handler",
    Runtime: "nodejs24.x",
    Timeout: 3,
    MemorySize: 128,
    Environment: { Variables: {} },
    LoggingConfig: { LogFormat: "JSON", ApplicationLogLevel: "INFO" },
  };

  test.each([
    [
      "Layers of AWS::Lambda::Function Pets",
      "AWS::Lambda::Function",
      functionProperties,
      { Layers: ["arn"] },
    ],
    [
      "Runtime of AWS::Lambda::Function Pets: only",
      "AWS::Lambda::Function",
      functionProperties,
      { Runtime: "nodejs22.x" },
    ],
    [
      "GlobalSecondaryIndexes of",
      "AWS::DynamoDB::Table",
      tableProperties,
      { GlobalSecondaryIndexes: [] },
    ],
    [
      "BillingMode of AWS::DynamoDB::Table Pets",
      "AWS::DynamoDB::Table",
      tableProperties,
      { BillingMode: "PROVISIONED" },
    ],
  ] as const)("is rejected for %s", (named, Type, properties, changes) => {
    const read = (Properties: object) =>
      new StackTemplate({ Resources: { Pets: { Type, Properties } } }).all(Type);
    expect(read(properties)).toHaveLength(1);
    expect(() => read({ ...properties, ...changes })).toThrow(
      `The local stack does not support ${named}`,
    );
  });
});

describe("a table", () => {
  /** The name of a table with these properties. */
  function tableName(Properties: object) {
    const Type = "AWS::DynamoDB::Table";
    const template = new StackTemplate({ Resources: { OrdersA1B2C3D4: { Type, Properties } } });
    return template.all(Type)[0]?.name;
  }

  test("has the name that the template gives it", () => {
    const named = { ...tableProperties, TableName: "orders-of-yesterday", ResourcePolicy: {} };
    expect(tableName(named)).toBe("orders-of-yesterday");
  });

  test("is named after the stack and its own id unless the template names it", () => {
    expect(tableName(tableProperties)).toBe(`${environments.staging.stackName}-Orders`);
  });
});
