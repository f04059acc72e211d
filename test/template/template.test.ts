import { describe, expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { isServed, resourceSchemas } from "../../infra/template/resources.ts";
import { StackTemplate } from "../../infra/template/stack-template.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
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
} from "../helpers/pets-template.ts";
import { templateOf } from "../helpers/synthesise.ts";

const templateWith = (Value: unknown) =>
  new StackTemplate({ Resources: { Fn: lambda }, Outputs: { Wanted: { Value } } });

test.each([everyOption, noOption])(
  "the stack is understood whole with the settings of $name",
  (environment) => {
    const template = new StackTemplate(templateOf(environment).toJSON());
    expect(template.leftOut).toEqual([]);
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
  ])("that has no value on one machine is rejected: %j", (value, named) => {
    expect(() => templateWith(value).output("Wanted")).toThrow(
      `The local stack does not support ${named}`,
    );
  });
});

describe("a resource of a type that is not served", () => {
  const leftOut = (Type: string) => new StackTemplate({ Resources: { Part: { Type } } }).leftOut;

  test.each(["AWS::SQS::Queue", "AWS::WAFv2::WebACL"])("is left out and named: %s", (type) => {
    expect(leftOut(type)).toEqual([`${type} (Part)`]);
  });

  test.each(["AWS::CloudWatch::Alarm", "AWS::WAFv2::WebACLAssociation"])(
    "is not named when it has no meaning on one machine: %s",
    (type) => {
      expect(leftOut(type)).toEqual([]);
    },
  );

  test.each([
    "AWS::ApiGateway::Model",
    "AWS::DynamoDB::GlobalTable",
    "AWS::Lambda::EventSourceMapping",
  ])("is rejected when it is of the service's own kind: %s", (Type) => {
    expect(() => new StackTemplate({ Resources: { More: { Type } } })).toThrow(
      `The local stack does not support the resource type ${Type} (More)`,
    );
  });

  test("is rejected when a resource that is served refers to it", () => {
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
  ])("for what would be overlooked: %s %#", (named, resources) => {
    expect(() => petsApi({ Any: any, ...authorizer({}) })).not.toThrow();
    expect(() => petsApi(resources)).toThrow(`The local stack does not support ${named}`);
  });

  test("unless there is one, of one stage", () => {
    for (const resources of [
      { OtherApi: api },
      { OtherStage: stage },
      { Stage: { Type: "AWS::IAM::Role" } },
    ]) {
      expect(() => petsApi(resources)).toThrow(
        "The local stack needs a template with one REST API of one stage",
      );
    }
  });

  test("for a method whose authorizer is missing, rather than served to everyone", () => {
    const withAuthorizer = (AuthorizerId?: unknown) =>
      method({ AuthorizationType: "CUSTOM", AuthorizerId });
    expect(() => petsApi(withAuthorizer())).toThrow("The authorizer of Any is missing");
    expect(() => petsApi(withAuthorizer("imported"))).toThrow("The authorizer of Any is missing");
    expect(() => petsApi(withAuthorizer({ Ref: "Gone" }))).toThrow(
      '{"Ref":"Gone"} in AuthorizerId of',
    );
  });
});

describe("the function behind an integration", () => {
  const { methods } = petsApi({ List: invoking({ Ref: "Live" }) });

  test("is the one that the invoked alias is of", () => {
    expect(methods).toMatchObject([{ integration: { Type: "AWS_PROXY", Uri: "Fn" } }]);
  });

  test("is buffered and has 29 seconds unless the method says otherwise", () => {
    const integration = { ResponseTransferMode: "BUFFERED", TimeoutInMillis: 29_000 };
    expect(methods).toMatchObject([{ integration }]);
  });

  test.each([
    [
      "a version",
      { Ref: "Version" },
      /^The local stack does not support .*"Version".* in Integration.Uri of .* List$/,
    ],
    [
      "a function past its alias",
      { "Fn::GetAtt": ["Fn", "Arn"] },
      /List: only an alias of .*:function:Fn/,
    ],
    [
      "no function",
      "arn:aws:s3:::bucket",
      /List: only an alias of a Lambda function can be invoked, not .*:::bucket/,
    ],
  ])("is not %s", (_, target, message) => {
    expect(() => petsApi({ List: invoking(target) })).toThrow(message);
  });
});

describe("a function or table", () => {
  const settings = {
    Code: { S3Bucket: "assets", S3Key: "cat.zip" },
    Handler: "index.handler",
    Runtime: "nodejs24.x",
    Timeout: 3,
    MemorySize: 128,
    Environment: { Variables: {} },
    LoggingConfig: { LogFormat: "JSON", ApplicationLogLevel: "INFO" },
  };
  const schema = {
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "N" }],
    BillingMode: "PAY_PER_REQUEST",
  };

  test.each([
    [
      "Layers of AWS::Lambda::Function Pets",
      "AWS::Lambda::Function",
      settings,
      { Layers: ["arn"] },
    ],
    [
      "Runtime of AWS::Lambda::Function Pets: only",
      "AWS::Lambda::Function",
      settings,
      { Runtime: "nodejs22.x" },
    ],
    ["GlobalSecondaryIndexes of", "AWS::DynamoDB::Table", schema, { GlobalSecondaryIndexes: [] }],
    [
      "BillingMode of AWS::DynamoDB::Table Pets",
      "AWS::DynamoDB::Table",
      schema,
      { BillingMode: "PROVISIONED" },
    ],
  ] as const)("is rejected for its %s", (named, Type, properties, changes) => {
    const read = (Properties: object) =>
      new StackTemplate({ Resources: { Pets: { Type, Properties } } }).all(Type);
    expect(read(properties)).toHaveLength(1);
    expect(() => read({ ...properties, ...changes })).toThrow(
      `The local stack does not support ${named}`,
    );
  });

  test("has the name that the template gives it, or one of its own", () => {
    const Properties = { ...schema, TableName: "orders-of-yesterday", ResourcePolicy: {} };
    const Type = "AWS::DynamoDB::Table";
    const Resources = {
      Restored: { Type, Properties },
      OrdersA1B2C3D4: { Type, Properties: schema },
    };
    const names = new StackTemplate({ Resources }).all(Type).map(({ name }) => name);
    expect(names).toEqual(["orders-of-yesterday", `${environments.staging.stackName}-Orders`]);
  });
});
