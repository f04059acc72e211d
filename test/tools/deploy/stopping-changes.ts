import type { Template } from "../../../infra/tools/deploy/changes.ts";
import {
  add,
  addLike,
  at,
  type Change,
  edit,
  every,
  push,
  reference,
  set,
} from "./templates.ts";

const statements = "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement";
const allowsAll = { Effect: "Allow", Action: "*", Resource: "*" };
const response = "Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json";

function moveOrders(next: Template, table: string) {
  const { Ref } = reference(next, "Orders");
  for (const { Properties } of every(next, "Lambda::Function")) {
    const variables = Properties?.["Environment"].Variables;
    if (variables.ORDERS_TABLE?.Ref === Ref) variables.ORDERS_TABLE = { Ref: table };
  }
}

function addFunction(next: Template, attributes: object = {}) {
  addLike("CancelOrderRole", "OtherRole")(next);
  const Role = { "Fn::GetAtt": ["OtherRole", "Arn"] };
  addLike("CancelOrder", "Other", { Role }, attributes)(next);
}

/** Each stops a deployment with lines with these texts. */
export const stoppingChanges: [title: string, change: Change, ...lines: string[]][] = [
  [
    "an alias points to unpublished code",
    set("CancelOrder/Aliaslive.FunctionVersion", "$LATEST"),
    "CancelOrder/Aliaslive: FunctionVersion: {CancelOrder/CurrentVersion.Version}",
  ],
  [
    "the tables lose a tag",
    (next) => {
      for (const { Properties } of every(next, "DynamoDB::Table"))
        Properties?.["Tags"].splice(-1);
    },
    "ApiKeys, Orders: Tags.team: orders becomes unset",
  ],
  [
    "older TLS is accepted",
    (next) => {
      for (const path of ["Api/Domain/Name", "Api/Rest"])
        set(`${path}.SecurityPolicy`, "TLS_1_0")(next);
    },
    // .github/workflows/deploy-environment.yml knows a change of TLS by this.
    "  Api/Domain/Name, Api/Rest: SecurityPolicy: SecurityPolicy_TLS13_1_2_PQ_2025_09",
  ],
  [
    "a public address hides behind the path of a version",
    (next) => {
      const Metadata = { "aws:cdk:path": "Stack/Address/Resource" };
      add("Address", "Lambda::Url", { AuthType: "NONE" })(next);
      for (const id of ["Version", "Another"])
        addLike("CancelOrder/CurrentVersion", id, {}, { Metadata })(next);
    },
    "! Address: a new Lambda::Url; AuthType NONE",
    "Address, Address: a new Lambda::Version",
  ],
  [
    "a function is added, beside a change that is more than references to it",
    (next) => {
      addFunction(next);
      set("CancelOrder.Layers", [{ Ref: "Other" }, "arn:aws:lambda:eu:1:layer:x:1"])(
        next,
      );
    },
    "CancelOrder: Layers: gains {Other}; gains arn:aws:lambda:eu:1:layer:x:1",
    "Other: a new Lambda::Function",
    "OtherRole: a new IAM::Role; AssumeRolePolicyDocument.Statement.0 Allow Principal Service",
  ],
  [
    "a function inside a construct is added",
    (next) =>
      addFunction(next, { Metadata: { "aws:cdk:path": "Stack/Team/Other/Resource" } }),
    "OtherRole: a new IAM::Role; AssumeRolePolicyDocument.Statement.0 Allow Principal Service",
    "Team/Other: a new Lambda::Function",
  ],
  [
    "a role's policy depends on a condition",
    push(statements, { "Fn::If": ["Always", allowsAll, allowsAll] }),
    "CancelOrderRole/DefaultPolicy: PolicyDocument.Statement: gains",
  ],
  [
    "a table becomes something else",
    (next) => Object.assign(at(next, "Orders").resource, { Type: "AWS::S3::Bucket" }),
    "! Orders: Type: AWS::DynamoDB::Table becomes AWS::S3::Bucket, and a new resource",
  ],
  [
    "functions move to another table",
    (next) => {
      addLike("Orders", "Other", { TableName: "OTHER" })(next);
      moveOrders(next, "Other");
    },
    "! Other: a new DynamoDB::Table; ",
    "CancelOrder, ListOrders: Environment.Variables.ORDERS_TABLE: {Orders} becomes",
  ],
  [
    "functions and a role move from the orders to the keys",
    (next) => {
      const { Ref } = reference(next, "ApiKeys");
      moveOrders(next, Ref);
      set(`${statements}.1.Resource`, { "Fn::GetAtt": [Ref, "Arn"] })(next);
    },
    "CancelOrder, ListOrders: Environment.Variables.ORDERS_TABLE: {Orders} becomes",
    "CancelOrderRole/DefaultPolicy: PolicyDocument.Statement: gains Allow Principal",
  ],
  [
    "anyone may write to a new log",
    add("Own", "Logs::LogGroup", {
      ResourcePolicyDocument: { Statement: { Principal: "*" } },
    }),
    "! Own: a new Logs::LogGroup; ResourcePolicyDocument.Statement Allow Principal *",
  ],
  [
    "an alarm no longer rolls its function back",
    edit("Rollout/CancelOrder.AlarmConfiguration.Alarms", (list) => list.pop()),
    "Rollout/CancelOrder: AlarmConfiguration.Alarms: loses",
  ],
  [
    "a gateway response shows AWS's own message",
    set(
      response,
      '{"code":"unauthorized","message":"$context.error.message","status":401}',
    ),
    "Api/Rest/UNAUTHORIZED: ResponseTemplates.application/json.message: Missing or",
  ],
  [
    "a gateway response is no longer an Error record",
    set(response, "null"),
    "Api/Rest/UNAUTHORIZED: ResponseTemplates.application/json:",
  ],
  [
    "a text comes from Parameter Store",
    set("Api/Rest.Description", "{{resolve:ssm:text}}"),
    "Api/Rest: Description: unset becomes {{resolve:ssm:text}}",
  ],
  [
    "a text comes from another stack",
    set("Api/Rest.Description", { "Fn::ImportValue": "Text" }),
    'Api/Rest: Description: unset becomes {"Fn::ImportValue":"Text"}',
  ],
  [
    "a variable steers the runtime",
    set("CancelOrder.Environment.Variables.LD_PRELOAD", "/tmp/other.so"),
    "CancelOrder: Environment.Variables.LD_PRELOAD: unset becomes /tmp/other.so",
  ],
  [
    "a role gains an inline policy",
    set("CancelOrderRole.Policies", [{ PolicyDocument: { Statement: [allowsAll] } }]),
    'CancelOrderRole: Policies: gains {"PolicyDocument":{"Statement":["Allow Principal',
  ],
  [
    "orders expire",
    set("Orders.TimeToLiveSpecification", { AttributeName: "shipDate", Enabled: true }),
    "Orders: TimeToLiveSpecification: unset becomes",
  ],
  [
    "an output is exported under another name",
    ({ Outputs }) => Object.assign(Object(Outputs)["AlarmsTopicArn"], { Export: "x" }),
    "Outputs.AlarmsTopicArn: Export: unset becomes x",
  ],
  [
    "the API gets another address",
    ({ Outputs }) => Object.assign(Object(Outputs)["BaseUrl"], { Value: "x" }),
    // .github/workflows/deploy-environment.yml knows it by this.
    "  Outputs.BaseUrl: Value: https://",
  ],
];
