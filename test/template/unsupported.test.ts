import { expect, test } from "vitest";
import { readRestApi } from "../../infra/template/rest-api.ts";
import { StackTemplate } from "../../infra/template/stack-template.ts";
import { alias, api, invoking, lambda, mock, resource, root, stage, version } from "../helpers/pets-template.ts";

const any = mock(root, "ANY", 404);
const { Integration } = any.Properties;
const [response] = Integration.IntegrationResponses;
const withProperties = (changes: object) => ({ Any: { ...any, Properties: { ...any.Properties, ...changes } } });
const withResponses = (...IntegrationResponses: object[]) =>
  withProperties({ Integration: { ...Integration, IntegrationResponses } });
const header = (value: string) =>
  withResponses({ ...response, ResponseParameters: { "method.response.header.X-Pet": value } });
const text = (body: string) => withResponses({ ...response, ResponseTemplates: { "application/json": body } });
const authorizer = (changes: object) => ({
  Fn: lambda,
  Live: alias("Fn", "Version"),
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
const read = (resources: object) =>
  readRestApi(new StackTemplate({ Resources: { Api: api, Stage: stage, ...resources } }));

test.each<[string, object]>([
  ["AuthorizationType of AWS::ApiGateway::Method Any", withProperties({ AuthorizationType: "AWS_IAM" })],
  ["Integration.IntegrationResponses", withResponses(response ?? {}, { ...response, SelectionPattern: "5.." })],
  ["Integration.IntegrationResponses.0.SelectionPattern", withResponses({ ...response, SelectionPattern: "" })],
  ["Integration.IntegrationResponses.0.ResponseParameters", header("integration.response.header.X-Pet")],
  ["Integration.IntegrationResponses.0.ResponseTemplates.application/json", text("#end")],
  ["Type of AWS::ApiGateway::Authorizer Keys", authorizer({ Type: "REQUEST" })],
  ["IdentitySource of AWS::ApiGateway::Authorizer", authorizer({ IdentitySource: "method.request.querystring.key" })],
  ["PathPart of AWS::ApiGateway::Resource Pets", { Pets: resource(root, "{pet-id}") }],
  ["PathPart of AWS::ApiGateway::Resource Pets", { Pets: resource(root, "pet-{id}") }],
])("an API is rejected for its %s: %#", (named, resources) => {
  expect(() => read(resources)).toThrow(`The local stack does not support ${named}`);
});

test("an authorizer like the rejected ones is read", () => {
  expect(() => read({ Any: any, ...authorizer({}) })).not.toThrow();
});

test.each([{ OtherApi: api }, { OtherStage: stage }, { Stage: { ...stage, Type: "AWS::IAM::Role" } }])(
  "an API is rejected unless there is one, of one stage: %j",
  (resources) => {
    expect(() => read(resources)).toThrow("The local stack needs a template with one REST API of one stage");
  },
);

const settings = {
  Code: { S3Bucket: "assets", S3Key: "cat.zip" },
  Handler: "index.handler",
  Runtime: "nodejs24.x",
  Timeout: 3,
  MemorySize: 128,
  Environment: { Variables: {} },
  LoggingConfig: { LogFormat: "JSON", ApplicationLogLevel: "INFO" },
};
test.each<[string, object]>([
  ["Layers of AWS::Lambda::Function Fn", { Layers: ["arn"] }],
  ["Code.S3ObjectVersion of", { Code: { ...settings.Code, S3ObjectVersion: "1" } }],
  ["Runtime of AWS::Lambda::Function Fn: only nodejs24.x", { Runtime: "nodejs22.x" }],
])("a function is rejected for its %s", (named, changes) => {
  const functions = (properties: object) =>
    new StackTemplate({ Resources: { Fn: { ...lambda, Properties: properties } } }).all("AWS::Lambda::Function");
  expect(functions(settings)).toHaveLength(1);
  expect(() => functions({ ...settings, ...changes })).toThrow(`The local stack does not support ${named}`);
});

const schema = {
  KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
  AttributeDefinitions: [{ AttributeName: "id", AttributeType: "N" }],
  BillingMode: "PAY_PER_REQUEST",
};
test.each<[string, object]>([
  ["GlobalSecondaryIndexes of AWS::DynamoDB::Table Pets", { GlobalSecondaryIndexes: [] }],
  ["BillingMode of AWS::DynamoDB::Table Pets", { BillingMode: "PROVISIONED" }],
])("a table is rejected for its %s", (named, changes) => {
  const tables = (Properties: object) =>
    new StackTemplate({ Resources: { Pets: { Type: "AWS::DynamoDB::Table", Properties } } }).all(
      "AWS::DynamoDB::Table",
    );
  expect(tables(schema)).toHaveLength(1);
  expect(() => tables({ ...schema, ...changes })).toThrow(`The local stack does not support ${named}`);
});

test("a table has the name that the template gives it, or one of its own", () => {
  const Properties = { ...schema, TableName: "orders-of-yesterday", ResourcePolicy: {} };
  const Resources = {
    Restored: { Type: "AWS::DynamoDB::Table", Properties },
    OrdersA1B2C3D4: { Type: "AWS::DynamoDB::Table", Properties: schema },
  };
  const names = new StackTemplate({ Resources }).all("AWS::DynamoDB::Table").map(({ name }) => name);
  expect(names).toEqual(["orders-of-yesterday", "PetStoreOrders-staging-Orders"]);
});

test("a template is rejected for what would change its meaning", () => {
  const template = { Resources: {}, Transform: "AWS::Serverless-2016-10-31" };
  expect(() => new StackTemplate(template)).toThrow("The local stack does not support Transform of the template");
});

test("an integration is buffered and has 29 seconds unless it says otherwise", () => {
  const functions = {
    Fn: lambda,
    Version: version("Fn"),
    Live: alias("Fn", "Version"),
    Get: invoking({ Ref: "Live" }),
  };
  const [get] = read(functions).methods;
  expect(get?.integration).toEqual({ kind: "function", functionName: "Fn", streamed: false, timeoutMs: 29_000 });
});

test("a reference beside other keys is none", () => {
  const Outputs = { Function: { Value: { Ref: "Fn", Else: "" } } };
  const template = new StackTemplate({ Resources: { Fn: lambda }, Outputs });
  expect(() => template.output("Function")).toThrow("does not support the output Function: Invalid input");
});
