import { expect, test } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { readFunctions } from "../../../infra/local/functions.ts";
import { readRestApi } from "../../../infra/local/template/rest-api.ts";
import {
  readTemplate,
  type StackTemplate,
} from "../../../infra/local/template/stack-template.ts";
import { everyOption, noOption } from "../../helpers/fixture-environments.ts";
import { readAssembly } from "../../helpers/read-assembly.ts";
import { templateOf } from "../../helpers/synthesise.ts";
import { invoking, mock, petResources, petTemplate, uri } from "../pets.ts";

/** Reads all that the local stack serves of a template. */
function read(template: StackTemplate) {
  template.all("AWS::DynamoDB::Table");
  template.all("AWS::Lambda::Function");
  readRestApi(template);
}

test.each([everyOption, noOption])(
  "every resource of the stack is supported with the settings of $name",
  (environment) => {
    const template = readTemplate(templateOf(environment).toJSON());
    read(template);
    expect(template.notServed).toEqual([]);
  },
);

const pets: Record<string, { Type: string; Properties?: object }> = {
  ...petResources({
    "ANY /pets": mock(404),
    "GET /": { ...invoking("echo"), authorizer: "Keys" },
  }),
  More: { Type: "AWS::SNS::Topic" },
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

/** The pet API with another value at a path, like `Stage.Properties.StageName`. */
function changed(path: string, value: unknown) {
  const resources = structuredClone(pets);
  const names = path.split(".");
  const last = names.pop() ?? "";
  Object(names.reduce((part, name) => Object(part)[name], resources))[last] = value;
  return resources;
}

/** What is said of a template with these resources. */
function complaintAbout(resources: object): string {
  try {
    read(petTemplate(resources));
    return "nothing";
  } catch (error) {
    return String(error)
      .replace("CommandError: The local stack does not support ", "")
      .replace(/: (?:Invalid|Too big).*/, ": invalid")
      .replace("AWS::ApiGateway::", "");
  }
}

test("a template is rejected for whatever the local stack would ignore or misread", () => {
  const mocked = "ANY /pets.Properties.Integration";
  const response = `${mocked}.IntegrationResponses.0`;
  const header = { "method.response.header.X-Pet": "integration.response.header.X-Pet" };
  const changes: Record<string, unknown[]> = {
    "Api.Condition": ["Sometimes"],
    "Api.Properties.BinaryMediaTypes": [["*/*"]],
    OtherApi: [pets["Api"]],
    OtherStage: [pets["Stage"]],
    "Stage.Type": ["AWS::IAM::Role"],
    "Stage.Properties.StageName": [
      { "Fn::ImportValue": "x" },
      { "Fn::GetAtt": ["echo", "SnapStart"] },
      { "Fn::Join": ["", [{ Ref: "echo" }, { Ref: "Nothing" }]] },
      { Ref: "echo", Else: "" },
    ],
    "More.Type": [
      "AWS::ApiGateway::Model",
      "AWS::DynamoDB::GlobalTable",
      "AWS::Lambda::EventSourceMapping",
    ],
    "/pets.Properties.PathPart": [
      { "Fn::GetAtt": ["Parcels", "QueueName"] },
      { Ref: "Parcels" },
      "{pet-id}",
      "pet-{id}",
    ],
    "ANY /pets.Properties.ApiKeyRequired": [true],
    "ANY /pets.Properties.AuthorizationType": ["AWS_IAM"],
    [`${mocked}.Type`]: ["HTTP"],
    [`${mocked}.PassthroughBehavior`]: ["WHEN_NO_MATCH"],
    [`${mocked}.RequestTemplates.text/plain`]: ["$input", '{"statusCode":$status}'],
    [`${mocked}.IntegrationResponses.1`]: [{ StatusCode: "200" }],
    [`${response}.SelectionPattern`]: [""],
    [`${response}.ResponseParameters`]: [header],
    [`${response}.ResponseTemplates.application/json`]: ["#end"],
    "THROTTLED.Properties.ResponseTemplates.application/json": ["$context"],
    "Keys.Properties.Type": ["REQUEST"],
    "Keys.Properties.AuthorizerUri": ["arn:aws:s3:::bucket"],
    "Keys.Properties.IdentitySource": ["method.request.querystring.key"],
    "GET /.Properties.AuthorizerId": [undefined, "imported", { Ref: "Gone" }],
    "GET /.Properties.Integration.Uri": [uri({ "Fn::GetAtt": ["echo", "Arn"] })],
    "echo.Properties.Layers": [["arn"]],
    "echo.Properties.Runtime": ["nodejs22.x"],
    "Orders.Properties.GlobalSecondaryIndexes": [[]],
    "Orders.Properties.BillingMode": ["PROVISIONED"],
  };
  const complaints = Object.entries(changes).flatMap(([path, values]) =>
    values.map((value) => complaintAbout(changed(path, value))),
  );
  expect(complaints.join("\n")).toMatchInlineSnapshot(`
    "Condition of RestApi Api
    BinaryMediaTypes of RestApi Api
    CommandError: The local stack needs a template with one REST API of one stage
    CommandError: The local stack needs a template with one REST API of one stage
    CommandError: The local stack needs a template with one REST API of one stage
    {"Fn::ImportValue":"x"} in StageName of Stage Stage: invalid
    {"Fn::GetAtt":["echo","SnapStart"]} in StageName of Stage Stage: invalid
    {"Fn::Join":["",["echo",{"Ref":"Nothing"}]]} in StageName of Stage Stage: invalid
    {"Ref":"echo","Else":""} in StageName of Stage Stage: invalid
    the resource type Model (More)
    the resource type AWS::DynamoDB::GlobalTable (More)
    the resource type AWS::Lambda::EventSourceMapping (More)
    {"Fn::GetAtt":["Parcels","QueueName"]} in PathPart of Resource /pets: invalid
    {"Ref":"Parcels"} in PathPart of Resource /pets: invalid
    "{pet-id}" in PathPart of Resource /pets: invalid
    "pet-{id}" in PathPart of Resource /pets: invalid
    ApiKeyRequired of Method ANY /pets
    "AWS_IAM" in AuthorizationType of Method ANY /pets: invalid
    {"Type":"HTTP","PassthroughBehavior":"NEVER","RequestTemplates":{"application/json":"{\\"statusCode\\":404}"},"IntegrationResponses":[{"StatusCode":"404","ResponseTemplates":{"application/json":"{\\"cat\\":\\"é\\"}"}}]} in Integration.Type of Method ANY /pets: invalid
    "WHEN_NO_MATCH" in Integration.PassthroughBehavior of Method ANY /pets: invalid
    "$input" in Integration.RequestTemplates.text/plain of Method ANY /pets: only a status is supported
    "{\\"statusCode\\":$status}" in Integration.RequestTemplates.text/plain of Method ANY /pets: only a status is supported
    [{"StatusCode":"404","ResponseTemplates":{"application/json":"{\\"cat\\":\\"é\\"}"}},{"StatusCode":"200"}] in Integration.IntegrationResponses of Method ANY /pets: invalid
    Integration.IntegrationResponses.0.SelectionPattern of Method ANY /pets
    "integration.response.header.X-Pet" in Integration.IntegrationResponses.0.ResponseParameters.method.response.header.X-Pet of Method ANY /pets: only literals are supported
    "#end" in Integration.IntegrationResponses.0.ResponseTemplates.application/json of Method ANY /pets: only constant text is supported, no template language
    "$context" in ResponseTemplates.application/json of GatewayResponse THROTTLED: only constant text is supported, no template language
    "REQUEST" in Type of Authorizer Keys: invalid
    "arn:aws:s3:::bucket" in AuthorizerUri of Authorizer Keys: only an alias of a Lambda function can be invoked
    "method.request.querystring.key" in IdentitySource of Authorizer Keys: invalid
    CommandError: The authorizer of GET / is missing
    CommandError: The authorizer of GET / is missing
    {"Ref":"Gone"} in AuthorizerId of Method GET /: invalid
    "arn:aws:apigateway:us-east-1:lambda:path/functions/arn:aws:lambda:us-east-1:000000000000:function:echo/invocations" in Integration.Uri of Method GET /: only an alias of a Lambda function can be invoked
    Layers of AWS::Lambda::Function echo
    "nodejs22.x" in Runtime of AWS::Lambda::Function echo: invalid
    GlobalSecondaryIndexes of AWS::DynamoDB::Table Orders
    "PROVISIONED" in BillingMode of AWS::DynamoDB::Table Orders: invalid"
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
  const OrdersA1B2C3D4 = pets["Orders"];
  const { ApiKeys } = changed("ApiKeys.Properties.TableName", "of-old");
  const template = petTemplate({ ApiKeys, OrdersA1B2C3D4 });
  const names = template.all("AWS::DynamoDB::Table").map(({ name }) => name);
  expect(names).toEqual(["of-old", `${environments.staging.stackName}-Orders`]);
});

test("functions that are debugged have a port each, and a day for their work", async () => {
  const functions = readFunctions(await readAssembly(), "http://127.0.0.1:8000", true);
  const limits = [9229, 9230, 9231].map((inspectPort) => ({
    inspectPort,
    timeoutSeconds: 86_400,
  }));
  expect(functions).toMatchObject(limits);
});
