import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { environments } from "../../../../infra/environments.ts";
import { readFunctions } from "../../../../infra/tools/local/template/functions.ts";
import { readRestApi } from "../../../../infra/tools/local/template/rest-api.ts";
import { readStackTemplate } from "../../../../infra/tools/local/template/stack-template.ts";
import { readAssembly } from "../../../helpers/read-assembly.ts";

const { stackName } = environments.staging;

/** The resources of the synthesised template, their logical ids without hashes. */
let resources: Record<string, { Type: string; Properties: object }>;
beforeAll(async () => {
  const { directory } = await readAssembly();
  const text = await readFile(join(directory, `${stackName}.template.json`), "utf8");
  resources = JSON.parse(
    text.replaceAll(/(?<="[A-Z]\w+)[0-9A-F]{8}(?=")/g, ""),
  ).Resources;
});

const templateOf = (Resources: object, Outputs = {}) =>
  readStackTemplate({ Resources, Outputs });

/** Reads the template with another value of a resource, or of its property. */
function readWith(path: string, value: unknown) {
  const changed = structuredClone(resources);
  const [id = "", ...names] = path.split(".");
  const last = names.pop();
  if (last === undefined) Object.assign(changed, { [id]: value });
  else {
    const within = names.reduce(
      (part, name) => part[name],
      Object(changed[id]).Properties,
    );
    within[last] = value;
  }
  const template = templateOf(changed);
  template.all("AWS::DynamoDB::Table");
  return [
    template,
    readFunctions({ template, directory: "" }, ""),
    readRestApi(template),
  ];
}

test("resources of other services are left out, silently if they mean nothing here", () => {
  const template = templateOf({
    ...resources,
    Parcels: { Type: "AWS::SQS::Queue" },
    Shield: { Type: "AWS::WAFv2::WebACL" },
    Alarm: { Type: "AWS::CloudWatch::Alarm" },
    Shielded: { Type: "AWS::WAFv2::WebACLAssociation" },
  });
  expect(template.notServed).toEqual([
    "AWS::SQS::Queue (Parcels)",
    "AWS::WAFv2::WebACL (Shield)",
  ]);
});

const stage = "ApiRestDeploymentStagev1";
const lists = "ApiReststoreordersGET";
const mocked = "ApiReststoreordersANY.Integration";
const response = `${mocked}.IntegrationResponses.0`;
test.each([
  [
    `${stage}.StageName`,
    [
      { "Fn::ImportValue": "x" },
      { "Fn::GetAtt": ["ListOrders", "SnapStart"] },
      { "Fn::Join": ["", [{ Ref: "ListOrders" }, { Ref: "Nothing" }]] },
      { "Fn::Sub": `$\{ListOrders.Arn}-$\{Gone}` },
      { Ref: "ListOrders", Else: "" },
    ],
  ],
  ["ApiReststoreorders.PathPart", [{ Ref: "Alarm" }, "{pet-id}", "pet-{id}"]],
  ["ApiReststoreordersANY.ApiKeyRequired", [true]],
  [`${mocked}.PassthroughBehavior`, ["WHEN_NO_MATCH"]],
  [`${mocked}.RequestTemplates.text/plain`, ['{"statusCode":$status}']],
  [`${response}.ResponseTemplates.application/json`, ["#end", "$context"]],
  ["ApiBearerKeys.IdentitySource", ["method.request.querystring.key"]],
  ["ApiBearerKeys.Type", ["REQUEST"]],
  ["ListOrders.Layers", [["arn"]]],
  ["ListOrders.Runtime", ["nodejs22.x"]],
  ["Orders.BillingMode", ["PROVISIONED"]],
])("a template is rejected if %s would be ignored or misread", (path, rejected) => {
  const [id = "", ...names] = path.split(".");
  const place = `${names.join(".")} of ${resources[id]?.Type} ${id}`;
  for (const value of rejected) expect(() => readWith(path, value)).toThrow(place);
});

const onlyOne = "The local stack needs a template with one REST API of one stage";
const missing = `${lists} needs CUSTOM with an authorizer of the template`;
const header = { "method.response.header.X-Pet": "integration.response.header.X-Pet" };
test.each([
  [onlyOne, "Other", { Type: "AWS::ApiGateway::Stage", Properties: { StageName: "v2" } }],
  [onlyOne, stage, { Type: "AWS::IAM::Role" }],
  [missing, `${lists}.AuthorizationType`, "NONE"],
  [missing, `${lists}.AuthorizerId`, "imported"],
  [
    "not support Condition of AWS::ApiGateway::RestApi ApiRest",
    "ApiRest",
    { Type: "AWS::ApiGateway::RestApi", Condition: "" },
  ],
  [
    "in Integration.Uri of AWS::ApiGateway::Method ApiReststoreordersGET: only an alias",
    `${lists}.Integration.Uri`,
    "arn:aws:x/functions/arn:aws:x:y:z:function:f/more",
  ],
  [
    "StreamViewType of AWS::DynamoDB::Table Orders",
    "Orders.StreamSpecification",
    { StreamViewType: "KEYS_ONLY" },
  ],
  ["a status is needed", `${response}.StatusCode`, undefined],
  [": only literals are supported", `${response}.ResponseParameters`, header],
  ["Integration.IntegrationResponses of", `${mocked}.IntegrationResponses.1`, {}],
  [
    `not support {"Ref":"Gone"} in AuthorizerId of AWS::ApiGateway::Method ${lists}: Invalid`,
    `${lists}.AuthorizerId`,
    { Ref: "Gone" },
  ],
  [
    "AWS::Lambda::EventSourceMapping (More)",
    "More",
    { Type: "AWS::Lambda::EventSourceMapping" },
  ],
  ["AWS::DynamoDB::GlobalTable (More)", "More", { Type: "AWS::DynamoDB::GlobalTable" }],
])("a template is rejected with the reason: %s", (reason, path, value) => {
  expect(() => readWith(path, value)).toThrow(reason);
});

test.each([
  [{ Ref: "ListOrders" }, "ListOrders"],
  [{ "Fn::Join": ["-", ["a", { Ref: "AWS::Region" }]] }, "a-us-east-1"],
  [{ "Fn::Sub": `$\{!a}-$\{AWS::Region}` }, `$\{a}-us-east-1`],
  [{ "Fn::Select": [1, { "Fn::Split": [":", "arn:aws:x"] }] }, "aws"],
  [
    { "Fn::GetAtt": ["ListOrders", "Arn"] },
    "arn:aws:lambda:us-east-1:000000000000:function:ListOrders",
  ],
])("an intrinsic function is resolved: %j", (Value, result) => {
  expect(templateOf(resources, { Wanted: { Value } }).output("Wanted")).toBe(result);
});

test("a method may be on the API's root", () => {
  const root = { "Fn::GetAtt": ["ApiRest", "RootResourceId"] };
  const [, , api] = readWith(`${lists}.ResourceId`, root);
  expect(Object(api).methods).toContainEqual(expect.objectContaining({ path: "/" }));
});

test("a table is named after the stack and its own id", () => {
  const template = templateOf({ Orders01234567A1B2C3D4: resources["Orders"] });
  const names = template.all("AWS::DynamoDB::Table").map(({ name }) => name);
  expect(names).toEqual([`${stackName}-Orders01234567`]);
});

test("a function that is debugged has a port of its own, and a day for its work", () => {
  const stack = { template: templateOf(resources), directory: "" };
  const debugged = readFunctions(stack, "", true).slice(0, 2);
  expect(debugged).toMatchObject([
    { inspectPort: 9229, Timeout: 86_400 },
    { inspectPort: 9230, Timeout: 86_400 },
  ]);
});
