import { expect, test } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { readFunctions } from "../../../infra/local/functions.ts";
import { isServed, resourceSchemas } from "../../../infra/local/template/resources.ts";
import { readRestApi } from "../../../infra/local/template/rest-api.ts";
import { StackTemplate } from "../../../infra/local/template/stack-template.ts";
import { everyOption, noOption } from "../../helpers/fixture-environments.ts";
import { readAssembly } from "../../helpers/read-assembly.ts";
import { templateOf } from "../../helpers/synthesise.ts";
import { invoking, mock, petResources, petTemplate, uri } from "../pets.ts";

/** Reads all that the local stack serves of a template. */
function read(template: StackTemplate) {
  for (const type of Object.keys(resourceSchemas)) if (isServed(type)) template.all(type);
  return readRestApi(template);
}

test.each([everyOption, noOption])(
  "every resource of the stack is supported with the settings of $name",
  (environment) => {
    const template = new StackTemplate(templateOf(environment).toJSON());
    read(template);
    expect(template.notServed).toEqual([]);
  },
);

const pets: Record<string, { Type: string; Properties?: object }> = {
  ...petResources({
    "ANY /pets": mock(404),
    "GET /": { ...invoking("echo"), authorizer: "Keys" },
  }),
  Parcels: { Type: "AWS::SQS::Queue" },
  Shield: { Type: "AWS::WAFv2::WebACL" },
  Alarm: { Type: "AWS::CloudWatch::Alarm" },
  Shielded: { Type: "AWS::WAFv2::WebACLAssociation" },
};

test("resources of other services are left out, silently if they mean nothing here", () => {
  const template = petTemplate(pets);
  read(template);
  expect(template.notServed).toEqual([
    "AWS::SQS::Queue (Parcels)",
    "AWS::WAFv2::WebACL (Shield)",
  ]);
});

/** What is said of the pet API with another value at this path. */
function complaint([path, value]: [path: string, value: unknown]): string {
  const changed = structuredClone(pets);
  const names = path.split(".");
  const last = names.pop() ?? "";
  Object(names.reduce((part, name) => Object(part)[name], changed))[last] = value;
  try {
    read(petTemplate(changed));
    return "nothing";
  } catch (error) {
    return String(error)
      .replace("CommandError: The local stack does not support ", "")
      .replace(/: (?:Invalid|Too big).*/, ": invalid");
  }
}

test("a template is rejected for whatever the local stack would ignore or misread", () => {
  const mocked = "ANY /pets.Properties.Integration";
  const response = `${mocked}.IntegrationResponses.0`;
  const header = { "method.response.header.X-Pet": "integration.response.header.X-Pet" };
  const changes: [path: string, value: unknown][] = [
    ["Api.Condition", "Sometimes"],
    ["Api.Properties.BinaryMediaTypes", ["*/*"]],
    ["OtherApi", pets["Api"]],
    ["OtherStage", pets["Stage"]],
    ["Stage.Type", "AWS::IAM::Role"],
    ["Stage.Properties.StageName", 1],
    ["Stage.Properties.StageName", { "Fn::ImportValue": "x" }],
    ["Stage.Properties.StageName", { "Fn::GetAtt": ["echo", "SnapStart"] }],
    [
      "Stage.Properties.StageName",
      { "Fn::Join": ["", [{ Ref: "echo" }, { Ref: "Nothing" }]] },
    ],
    ["Stage.Properties.StageName", { "Fn::Sub": "a-b" }],
    ["Stage.Properties.StageName", { Ref: "echo", Else: "" }],
    ["More", { Type: "AWS::ApiGateway::Model" }],
    ["More", { Type: "AWS::DynamoDB::GlobalTable" }],
    ["More", { Type: "AWS::Lambda::EventSourceMapping" }],
    ["/pets.Properties.PathPart", { "Fn::GetAtt": ["Parcels", "QueueName"] }],
    ["/pets.Properties.PathPart", "{pet-id}"],
    ["/pets.Properties.PathPart", "pet-{id}"],
    ["ANY /pets.Properties.ApiKeyRequired", true],
    ["ANY /pets.Properties.AuthorizationType", "AWS_IAM"],
    [`${mocked}.Type`, "HTTP"],
    [`${mocked}.PassthroughBehavior`, "WHEN_NO_MATCH"],
    [`${mocked}.RequestTemplates.text/plain`, "$input"],
    [`${mocked}.IntegrationResponses.1`, { StatusCode: "200" }],
    [`${response}.SelectionPattern`, ""],
    [`${response}.ResponseParameters`, header],
    [`${response}.ResponseTemplates.application/json`, "#end"],
    ["THROTTLED.Properties.ResponseTemplates.application/json", "$context.error.message"],
    ["Keys.Properties.Type", "REQUEST"],
    ["Keys.Properties.AuthorizerUri", "arn:aws:s3:::bucket"],
    ["Keys.Properties.IdentitySource", "method.request.querystring.key"],
    ["GET /.Properties.AuthorizerId", undefined],
    ["GET /.Properties.AuthorizerId", "imported"],
    ["GET /.Properties.AuthorizerId", { Ref: "Gone" }],
    ["GET /.Properties.Integration.Uri", uri({ Ref: "Version" })],
    ["GET /.Properties.Integration.Uri", uri({ "Fn::GetAtt": ["echo", "Arn"] })],
    ["GET /.Properties.Integration.Uri", uri("arn:aws:s3:::bucket")],
    ["echo.Properties.Layers", ["arn"]],
    ["echo.Properties.Runtime", "nodejs22.x"],
    ["Orders.Properties.GlobalSecondaryIndexes", []],
    ["Orders.Properties.BillingMode", "PROVISIONED"],
  ];
  expect(changes.map(complaint).join("\n")).toMatchInlineSnapshot(`
    "Condition of Api
    BinaryMediaTypes of AWS::ApiGateway::RestApi Api
    CommandError: The local stack needs a template with one REST API of one stage
    CommandError: The local stack needs a template with one REST API of one stage
    CommandError: The local stack needs a template with one REST API of one stage
    StageName of AWS::ApiGateway::Stage Stage: invalid
    {"Fn::ImportValue":"x"} in StageName of AWS::ApiGateway::Stage Stage
    {"Fn::GetAtt":["echo","SnapStart"]} in StageName of AWS::ApiGateway::Stage Stage
    {"Fn::Join":["",["echo",{"Ref":"Nothing"}]]} in StageName of AWS::ApiGateway::Stage Stage
    {"Fn::Sub":"a-b"} in StageName of AWS::ApiGateway::Stage Stage
    StageName of AWS::ApiGateway::Stage Stage: invalid
    the resource type AWS::ApiGateway::Model (More)
    the resource type AWS::DynamoDB::GlobalTable (More)
    the resource type AWS::Lambda::EventSourceMapping (More)
    {"Fn::GetAtt":["Parcels","QueueName"]} in PathPart of AWS::ApiGateway::Resource /pets
    PathPart of AWS::ApiGateway::Resource /pets: invalid
    PathPart of AWS::ApiGateway::Resource /pets: invalid
    ApiKeyRequired of AWS::ApiGateway::Method ANY /pets
    AuthorizationType of AWS::ApiGateway::Method ANY /pets: invalid
    Integration.Type of AWS::ApiGateway::Method ANY /pets: invalid
    Integration.PassthroughBehavior of AWS::ApiGateway::Method ANY /pets: invalid
    Integration.RequestTemplates of AWS::ApiGateway::Method ANY /pets: every status must be that of the one response
    Integration.IntegrationResponses of AWS::ApiGateway::Method ANY /pets: invalid
    Integration.IntegrationResponses.0.SelectionPattern of AWS::ApiGateway::Method ANY /pets
    Integration.IntegrationResponses.0.ResponseParameters.method.response.header.X-Pet of AWS::ApiGateway::Method ANY /pets: only literals are supported
    Integration.IntegrationResponses.0.ResponseTemplates.application/json of AWS::ApiGateway::Method ANY /pets: only constant text is supported, no template language
    ResponseTemplates.application/json of AWS::ApiGateway::GatewayResponse THROTTLED: only constant text is supported, no template language
    Type of AWS::ApiGateway::Authorizer Keys: invalid
    AuthorizerUri of AWS::ApiGateway::Authorizer Keys: only an alias of a Lambda function can be invoked, not arn:aws:s3:::bucket
    IdentitySource of AWS::ApiGateway::Authorizer Keys: invalid
    CommandError: The authorizer of GET / is missing
    CommandError: The authorizer of GET / is missing
    {"Ref":"Gone"} in AuthorizerId of AWS::ApiGateway::Method GET /
    {"Fn::Join":["",["arn:aws:apigateway:us-east-1:lambda:path/functions/",{"Ref":"Version"},"/invocations"]]} in Integration.Uri of AWS::ApiGateway::Method GET /
    Integration.Uri of AWS::ApiGateway::Method GET /: only an alias of a Lambda function can be invoked, not arn:aws:apigateway:us-east-1:lambda:path/functions/arn:aws:lambda:us-east-1:000000000000:function:echo/invocations
    Integration.Uri of AWS::ApiGateway::Method GET /: only an alias of a Lambda function can be invoked, not arn:aws:apigateway:us-east-1:lambda:path/functions/arn:aws:s3:::bucket/invocations
    Layers of AWS::Lambda::Function echo
    Runtime of AWS::Lambda::Function echo: only nodejs24.x, which runs here, is supported
    GlobalSecondaryIndexes of AWS::DynamoDB::Table Orders
    BillingMode of AWS::DynamoDB::Table Orders: invalid"
  `);
});

test.each([
  [{ Ref: "echo" }, "echo"],
  [{ "Fn::Join": ["-", ["a", { Ref: "AWS::Region" }]] }, "a-us-east-1"],
  [{ "Fn::Select": [1, { "Fn::Split": [":", "arn:aws:x"] }] }, "aws"],
  [
    { "Fn::GetAtt": ["echo", "Arn"] },
    "arn:aws:lambda:us-east-1:000000000000:function:echo",
  ],
])("an intrinsic function is resolved: %j", (value, result) => {
  expect(petTemplate(pets, { Wanted: value }).output("Wanted")).toBe(result);
});

test("a table is named after the stack and its own id unless the template names it", () => {
  const OrdersA1B2C3D4 = petResources({})["Orders"];
  const Properties = {
    ...pets["Orders"]?.Properties,
    TableName: "of-old",
    ResourcePolicy: {},
  };
  const named = { ...OrdersA1B2C3D4, Properties };
  const template = petTemplate({ ApiKeys: named, OrdersA1B2C3D4 });
  const names = template.all("AWS::DynamoDB::Table").map(({ name }) => name);
  expect(names).toEqual(["of-old", `${environments.staging.stackName}-Orders`]);
});

test("functions that are debugged have a port each, and a day for their work", async () => {
  const functions = readFunctions(await readAssembly(), "http://127.0.0.1:8000", true);
  const expected = [9229, 9230, 9231].map((inspectPort) => ({
    inspectPort,
    timeoutSeconds: 86_400,
  }));
  expect(functions).toMatchObject(expected);
});
