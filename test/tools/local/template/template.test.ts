import { expect, test } from "vitest";
import { environments } from "../../../../infra/environments.ts";
import { readRestApi } from "../../../../infra/tools/local/template/rest-api.ts";
import type { StackTemplate } from "../../../../infra/tools/local/template/stack-template.ts";
import { invoking, mock, petResources, petTemplate, uri } from "../pets.ts";

function read(template: StackTemplate) {
  template.all("AWS::DynamoDB::Table");
  template.all("AWS::Lambda::Function");
  readRestApi(template);
}

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

/** The pet API with another value of a property, like `Stage.StageName`. */
function changed(path: string, value: unknown) {
  const resources = structuredClone(pets);
  const [id = "", ...names] = path.split(".");
  const last = names.pop() ?? "";
  const { Properties } = Object(resources[id]);
  names.reduce((part, name) => part[name], Properties)[last] = value;
  return resources;
}

test("a template is rejected for properties that would be ignored or misread", () => {
  const mocked = "ANY /pets.Integration";
  const response = `${mocked}.IntegrationResponses.0`;
  const values: Record<string, unknown[]> = {
    "Stage.StageName": [
      { "Fn::ImportValue": "x" },
      { "Fn::GetAtt": ["echo", "SnapStart"] },
      { "Fn::Join": ["", [{ Ref: "echo" }, { Ref: "Nothing" }]] },
      { Ref: "echo", Else: "" },
    ],
    "/pets.PathPart": [{ Ref: "Parcels" }, "{pet-id}", "pet-{id}"],
    "ANY /pets.ApiKeyRequired": [true],
    [`${mocked}.PassthroughBehavior`]: ["WHEN_NO_MATCH"],
    [`${mocked}.RequestTemplates.text/plain`]: ['{"statusCode":$status}'],
    [`${response}.ResponseTemplates.application/json`]: ["#end", "$context"],
    "Keys.IdentitySource": ["method.request.querystring.key"],
    "GET /.Integration.Uri": [uri({ "Fn::GetAtt": ["echo", "Arn"] })],
    "echo.Layers": [["arn"]],
    "Orders.BillingMode": ["PROVISIONED"],
  };
  for (const [path, rejected] of Object.entries(values)) {
    const [id = "", ...names] = path.split(".");
    const place = `${names.join(".")} of ${pets[id]?.Type} ${id}`;
    for (const value of rejected)
      expect(() => read(petTemplate(changed(path, value)))).toThrow(place);
  }
});

const onlyOne = "The local stack needs a template with one REST API of one stage";
const missing = "GET / needs CUSTOM with an authorizer of the template";
const header = { "method.response.header.X-Pet": "integration.response.header.X-Pet" };
const responses = "ANY /pets.Integration.IntegrationResponses";
test.each<[string, object]>([
  [onlyOne, { OtherStage: pets["Stage"] }],
  [onlyOne, { Stage: { Type: "AWS::IAM::Role" } }],
  [missing, changed("GET /.AuthorizationType", "NONE")],
  [missing, changed("GET /.AuthorizerId", "imported")],
  [
    "not support Condition of AWS::ApiGateway::RestApi Api",
    { Api: { ...pets["Api"], Condition: "" } },
  ],
  [": only literals are supported", changed(`${responses}.0.ResponseParameters`, header)],
  ["Integration.IntegrationResponses of", changed(`${responses}.1`, {})],
  [
    'not support {"Ref":"Gone"} in AuthorizerId of AWS::ApiGateway::Method GET /: Invalid',
    changed("GET /.AuthorizerId", { Ref: "Gone" }),
  ],
  [
    "AWS::Lambda::EventSourceMapping (More)",
    { More: { Type: "AWS::Lambda::EventSourceMapping" } },
  ],
  ["AWS::DynamoDB::GlobalTable (More)", { More: { Type: "AWS::DynamoDB::GlobalTable" } }],
])("a template is rejected with the reason: %s", (reason, changes) => {
  expect(() => read(petTemplate({ ...pets, ...changes }))).toThrow(reason);
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
  expect(petTemplate(pets, { Wanted: { Value: value } }).output("Wanted")).toBe(result);
});

test("a table is named after the stack and its own id", () => {
  const template = petTemplate({ Orders01234567A1B2C3D4: pets["Orders"] });
  const names = template.all("AWS::DynamoDB::Table").map(({ name }) => name);
  expect(names).toEqual([`${environments.staging.stackName}-Orders01234567`]);
});
