import type { Template } from "../../../infra/tools/deploy/compare-templates.ts";
import {
  add,
  addLike,
  at,
  type Change,
  cancelRoute,
  edit,
  every,
  push,
  reference,
  set,
} from "./templates.ts";

const statements = "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement";
const allowsAll = { Effect: "Allow", Action: "*", Resource: "*" };
const anyRoute = cancelRoute.replace("DELETE", "ANY");
const response = "Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json";

function moveOrders(next: Template, table: unknown) {
  const { Ref } = reference(next, "Orders");
  for (const { Properties } of every(next, "Lambda::Function")) {
    const variables = Properties?.["Environment"].Variables;
    if (variables.ORDERS_TABLE?.Ref === Ref) variables.ORDERS_TABLE = table;
  }
}

function addFunction(next: Template, attributes: object = {}) {
  addLike("CancelOrderRole", "OtherRole")(next);
  const Role = { "Fn::GetAtt": ["OtherRole", "Arn"] };
  addLike("CancelOrder", "Other", { Role }, attributes)(next);
}

/**
 * Each stops a deployment with lines with these texts: first, marked `!`, those about what loses data
 * or opens a door.
 */
export const stoppingChanges: [title: string, change: Change, ...lines: string[]][] = [
  [
    "a function no longer waits for its role's policy",
    (next) => Object.assign(at(next, "CancelOrder").resource, { DependsOn: undefined }),
    "CancelOrder: DependsOn: loses CancelOrderRole",
  ],
  [
    "the name of a table is text, joined so that it reads like a reference to it",
    (next) => moveOrders(next, { "Fn::Join": ["", ["<", "OrdersA9B65338>"]] }),
    "CancelOrder, ListOrders: Environment.Variables.ORDERS_TABLE: <OrdersA9B65338> becomes <<OrdersA9B65338>",
  ],
  [
    "functions move to a table with the path of theirs",
    (next) => {
      const { resource } = at(next, "ApiKeys");
      const { Ref } = reference(next, "ApiKeys");
      moveOrders(next, { Ref });
      resource["Metadata"] = at(next, "Orders").resource["Metadata"];
    },
    "CancelOrder, ListOrders: Environment.Variables.ORDERS_TABLE: <OrdersA9B65338> becomes",
  ],
  [
    "a metric's log is a new one with the old one's path",
    (next) => {
      const { Metadata } = at(next, "CancelOrderLog").resource;
      set("LogMetrics/CancelOrderFailed.LogGroupName", { Ref: "Other" })(next);
      addLike("CancelOrderLog", "Other", {}, { Metadata })(next);
    },
    "LogMetrics/CancelOrderFailed: LogGroupName: <CancelOrderLogC0E28DCE> becomes <Other>",
  ],
  [
    "a function runs another one's code",
    (next) => set("CancelOrder.Code", at(next, "ListOrders").properties["Code"])(next),
    "CancelOrder: Code.S3Key: <CancelOrder87F627D3>.zip becomes <ListOrdersA592533A>.zip",
  ],
  [
    "code is none of CDK's assets",
    set("CancelOrder.Code.S3Key", "new.zip"),
    "CancelOrder: Code.S3Key: <CancelOrder87F627D3>.zip becomes new.zip",
  ],
  [
    "someone else is told of alarms",
    add("Own", "SNS::Subscription", { Endpoint: "else@example.com", Protocol: "email" }),
    "Own: a new SNS::Subscription; Endpoint else@example.com; Protocol email",
  ],
  [
    "the tables' tag, which may say who may use them, changes",
    (next) => {
      for (const path of ["Orders", "ApiKeys"])
        set(`${path}.Tags.3.Value`, "others")(next);
    },
    "ApiKeys, Orders: Tags.team: orders becomes others",
  ],
  [
    "an alias points to unpublished code",
    set("CancelOrder/Aliaslive.FunctionVersion", "$LATEST"),
    "CancelOrder/Aliaslive: FunctionVersion: <CancelOrder/CurrentVersion.Version>",
  ],
  [
    "a function is added, beside a change that is more than references to it",
    (next) => {
      addFunction(next);
      set("CancelOrder.Layers", [{ Ref: "Other" }, "arn:aws:lambda:eu:1:layer:x:1"])(
        next,
      );
    },
    "CancelOrder: Layers: gains <Other>; gains arn:aws:lambda:eu:1:layer:x:1",
    "Other: a new Lambda::Function",
    "OtherRole: a new IAM::Role; AssumeRolePolicyDocument.Statement.0 Allow Principal Service",
  ],
  [
    "functions and a role move from the orders to the keys",
    (next) => {
      const { Ref } = reference(next, "ApiKeys");
      moveOrders(next, { Ref });
      set(`${statements}.1.Resource`, { "Fn::GetAtt": [Ref, "Arn"] })(next);
    },
    "CancelOrder, ListOrders: Environment.Variables.ORDERS_TABLE: <OrdersA9B65338> becomes",
    "CancelOrderRole/DefaultPolicy: PolicyDocument.Statement: gains Allow Principal",
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
    "a policy is for everyone but one account",
    add("Own", "SQS::QueuePolicy", {
      PolicyDocument: { Statement: { Effect: "Allow", NotPrincipal: { AWS: "1" } } },
    }),
    "! Own: a new SQS::QueuePolicy; PolicyDocument.Statement Allow NotPrincipal AWS 1",
  ],
  [
    "an output is exported under another name",
    ({ Outputs = {} }) => Object.assign(Outputs["AlarmsTopicArn"] ?? {}, { Export: "x" }),
    "Outputs.AlarmsTopicArn: Export: unset becomes x",
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
    "a function inside a construct is added",
    (next) =>
      addFunction(next, { Metadata: { "aws:cdk:path": "Stack/Team/Other/Resource" } }),
    "OtherRole: a new IAM::Role; AssumeRolePolicyDocument.Statement.0 Allow Principal Service",
    "Team/Other: a new Lambda::Function",
  ],
  [
    "a role's policy depends on a condition",
    push(statements, { "Fn::If": ["Always", allowsAll, allowsAll] }),
    "! CancelOrderRole/DefaultPolicy: PolicyDocument.Statement: gains",
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
      moveOrders(next, { Ref: "Other" });
    },
    "! Other: a new DynamoDB::Table; ",
    "CancelOrder, ListOrders: Environment.Variables.ORDERS_TABLE: <OrdersA9B65338> becomes",
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
    "a gateway response shows what was sent, or nothing",
    set(response, '{"code":"unauthorized","message":"$!{input.path(0)}","status":401}'),
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
    "a statement of a policy changes, which is shown whole",
    set(`${statements}.1.Action`, ["dynamodb:Scan", "s3:*"]),
    "! CancelOrderRole/DefaultPolicy: PolicyDocument.Statement: " +
      "gains Allow Principal <CancelOrderRole28771C3D>, Action dynamodb:Scan, s3:*, Resource <OrdersA9B65338.Arn>; " +
      "loses Allow Principal <CancelOrderRole28771C3D>, Action dynamodb:UpdateItem, Resource <OrdersA9B65338.Arn>",
  ],
  [
    "a statement names what it leaves out",
    push(statements, { Effect: "Allow", NotAction: "iam:*", NotResource: "*" }),
    "! CancelOrderRole/DefaultPolicy: PolicyDocument.Statement: gains Allow Principal " +
      "<CancelOrderRole28771C3D>, NotAction iam:*, NotResource *",
  ],
  [
    "a statement names who is left out, and on which condition",
    push(statements, {
      Effect: "Allow",
      Action: "s3:*",
      NotPrincipal: { AWS: "1" },
      Condition: { Bool: { "aws:MFA": true } },
    }),
    "! CancelOrderRole/DefaultPolicy: PolicyDocument.Statement: gains Allow Action s3:*, " +
      "NotPrincipal AWS 1, Condition Bool aws:MFA true",
  ],
  [
    "others may no longer write orders",
    set("Orders.ResourcePolicy", undefined),
    '{"PolicyDocument":{"Statement":["Allow Principal AWS 222222222222, ' +
      'Action dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem, dynamodb:ConditionCheckItem, Resource *"],' +
      '"Version":"2012-10-17"}} becomes unset',
  ],
  [
    "a route is open",
    set(`${cancelRoute}.AuthorizationType`, "NONE"),
    `! ${cancelRoute}: AuthorizationType: CUSTOM becomes NONE`,
  ],
  [
    "a route no longer asks for keys",
    set(`${cancelRoute}.AuthorizationType`, undefined),
    `! ${cancelRoute}: AuthorizationType: CUSTOM becomes unset`,
  ],
  [
    "a new route says nothing of keys",
    add("Own", "ApiGateway::Method", { HttpMethod: "GET" }),
    "! Own: a new ApiGateway::Method; HttpMethod GET",
  ],
  [
    "an open route no longer has a constant response",
    set(`${anyRoute}.Integration.Type`, "AWS_PROXY"),
    `! ${anyRoute}: Integration.Type: MOCK becomes AWS_PROXY`,
  ],
  [
    "another account may call a function",
    (next) =>
      add("Own", "Lambda::Permission", {
        Action: "lambda:InvokeFunction",
        FunctionName: reference(next, "CancelOrder"),
        Principal: "444444444444",
      })(next),
    "! Own: a new Lambda::Permission; Properties Allow Principal 444444444444, Action lambda:InvokeFunction, FunctionName <CancelOrder87F627D3>",
  ],
  [
    "a table can be deleted",
    set("Orders.DeletionProtectionEnabled", false),
    "! Orders: DeletionProtectionEnabled: true becomes false",
  ],
  [
    "a table goes with the stack",
    (next) => Object.assign(at(next, "Orders").resource, { DeletionPolicy: "Delete" }),
    "! Orders: DeletionPolicy: Retain becomes Delete",
  ],
  [
    "a table has no backups",
    set("Orders.PointInTimeRecoverySpecification", undefined),
    '! Orders: PointInTimeRecoverySpecification: {"PointInTimeRecoveryEnabled":true',
  ],
  [
    "orders expire",
    set("Orders.TimeToLiveSpecification", { AttributeName: "shipDate", Enabled: true }),
    "! Orders: TimeToLiveSpecification: unset becomes",
  ],
  [
    "the API gets another address",
    ({ Outputs = {} }) => Object.assign(Outputs["BaseUrl"] ?? {}, { Value: "x" }),
    // .github/workflows/deploy-environment.yml knows it by this.
    "  Outputs.BaseUrl: Value: https://",
  ],
];
