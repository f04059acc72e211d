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

function moveOrders(next: Template, table: unknown) {
  const { Ref } = reference(next, "Orders");
  for (const { Properties } of every(next, "Lambda::Function")) {
    const variables = Properties?.["Environment"].Variables;
    if (variables.ORDERS_TABLE?.Ref === Ref) variables.ORDERS_TABLE = table;
  }
}

function addFunction(next: Template, attributes: object) {
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
    "functions move to another table with the path of theirs",
    (next) => {
      const { Metadata } = at(next, "Orders").resource;
      addLike("Orders", "Other", { TableName: "OTHER" }, { Metadata })(next);
      moveOrders(next, { Ref: "Other" });
    },
    "! Orders: a new DynamoDB::Table; ",
    "CancelOrder, ListOrders: Environment.Variables.ORDERS_TABLE: <OrdersA9B65338> becomes <Other>",
  ],
  [
    "functions run another one's code, and none of CDK's assets",
    (next) => {
      set("CancelOrder.Code", at(next, "ListOrders").properties["Code"])(next);
      set("Authorize.Code.S3Key", "new.zip")(next);
    },
    "Authorize: Code.S3Key: <AuthorizeD8507075>.zip becomes new.zip",
    "CancelOrder: Code.S3Key: <CancelOrder87F627D3>.zip becomes <ListOrdersA592533A>.zip",
  ],
  [
    "someone else is told of alarms",
    add("Own", "SNS::Subscription", { Endpoint: "else@example.com", Protocol: "email" }),
    "Own: a new SNS::Subscription; Endpoint else@example.com; Protocol email",
  ],
  [
    "tags of the tables, which may say who may use them, change or go",
    (next) => {
      for (const { Properties } of every(next, "DynamoDB::Table")) {
        const tags = Properties?.["Tags"];
        tags.splice(-1);
        tags[0].Value = "others";
      }
    },
    "ApiKeys, Orders: Tags.cost-centre: 4711 becomes others",
    "ApiKeys, Orders: Tags.team: orders becomes unset",
  ],
  [
    "an alias points to unpublished code",
    set("CancelOrder/Aliaslive.FunctionVersion", "$LATEST"),
    "CancelOrder/Aliaslive: FunctionVersion: <CancelOrder/CurrentVersion.Version>",
  ],
  [
    "a function in a construct is added, beside a change that is more than references to it",
    (next) => {
      const Metadata = { "aws:cdk:path": "Stack/Team/Other/Resource" };
      addFunction(next, { Metadata });
      set("CancelOrder.Layers", [{ Ref: "Other" }, "arn:aws:lambda:eu:1:layer:x:1"])(
        next,
      );
    },
    "CancelOrder: Layers: gains <Other>; gains arn:aws:lambda:eu:1:layer:x:1",
    "OtherRole: a new IAM::Role; AssumeRolePolicyDocument.Statement.0 Allow Principal Service",
    "Team/Other: a new Lambda::Function",
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
    "a variable steers the runtime, and would steer the terminal",
    set("CancelOrder.Environment.Variables.LD_PRELOAD", "/tmp/other.so\u001b[2K"),
    "CancelOrder: Environment.Variables.LD_PRELOAD: unset becomes /tmp/other.so\\u{1b}[2K",
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
    "a role's policy depends on a condition",
    push(statements, { "Fn::If": ["Always", allowsAll, allowsAll] }),
    "! CancelOrderRole/DefaultPolicy: PolicyDocument.Statement: gains",
  ],
  [
    "a role is denied everything, which opens no door",
    push(statements, { ...allowsAll, Effect: "Deny" }),
    "  CancelOrderRole/DefaultPolicy: PolicyDocument.Statement: gains Deny Principal",
  ],
  [
    "a table becomes something else",
    (next) => Object.assign(at(next, "Orders").resource, { Type: "AWS::S3::Bucket" }),
    "! Orders: Type: AWS::DynamoDB::Table becomes AWS::S3::Bucket, and a new resource",
  ],
  [
    "anyone may write to a new log",
    add("Own", "Logs::LogGroup", {
      ResourcePolicyDocument: {
        Statement: { Principal: { Service: "sns.amazonaws.com", AWS: "*" } },
      },
    }),
    "! Own: a new Logs::LogGroup; ResourcePolicyDocument.Statement Allow Principal Service sns.amazonaws.com, AWS *",
  ],
  [
    "an alarm no longer rolls its function back",
    edit("Rollout/CancelOrder.AlarmConfiguration.Alarms", (list) => list.pop()),
    "Rollout/CancelOrder: AlarmConfiguration.Alarms: loses",
  ],
  [
    "gateway responses show AWS's own message, show what was sent, have a field twice, or no field",
    (next) => {
      for (const [type, body] of [
        ["UNAUTHORIZED", '{"code":"unauthorized","message":"$context.error.message"}'],
        ["THROTTLED", '{"code":"too_many_requests","message":"$!{input.path(0)}"}'],
        ["RESOURCE_NOT_FOUND", '{"code":"no","code":"resource_not_found"}'],
        ["WAF_FILTERED", "null"],
      ])
        set(`Api/Rest/${type}.ResponseTemplates.application/json`, body)(next);
    },
    "Api/Rest/RESOURCE_NOT_FOUND: ResponseTemplates.application/json: ",
    "Api/Rest/THROTTLED: ResponseTemplates.application/json.message: Too many",
    "Api/Rest/THROTTLED: ResponseTemplates.application/json.status: 429",
    "Api/Rest/UNAUTHORIZED: ResponseTemplates.application/json.message: Missing or",
    "Api/Rest/UNAUTHORIZED: ResponseTemplates.application/json.status: 401",
    "Api/Rest/WAF_FILTERED: ResponseTemplates.application/json: ",
  ],
  [
    "texts come from Parameter Store and another stack",
    (next) => {
      set("Api/Rest.Description", "{{resolve:ssm:text}}")(next);
      set("CancelOrder.Description", { "Fn::ImportValue": "Text" })(next);
    },
    "Api/Rest: Description: unset becomes {{resolve:ssm:text}}",
    'CancelOrder: Description: unset becomes {"Fn::ImportValue":"Text"}',
  ],
  [
    "a statement of a policy changes, which is shown whole",
    set(`${statements}.1.Action`, ["dynamodb:Scan", "s3:*"]),
    "! CancelOrderRole/DefaultPolicy: PolicyDocument.Statement: " +
      "gains Allow Principal <CancelOrderRole28771C3D>, Action dynamodb:Scan, s3:*, Resource <OrdersA9B65338.Arn>; " +
      "loses Allow Principal <CancelOrderRole28771C3D>, Action dynamodb:UpdateItem, Resource <OrdersA9B65338.Arn>",
  ],
  [
    "statements name what they leave out, and on which condition",
    edit(statements, (list) =>
      list.push(
        { Effect: "Allow", NotAction: "iam:*", NotResource: "*" },
        {
          Effect: "Allow",
          Action: "s3:*",
          NotPrincipal: { AWS: "1" },
          Condition: { Bool: { "aws:MFA": true } },
        },
      ),
    ),
    "! CancelOrderRole/DefaultPolicy: PolicyDocument.Statement: gains Allow Principal " +
      "<CancelOrderRole28771C3D>, NotAction iam:*, NotResource *; " +
      "gains Allow Action s3:*, NotPrincipal AWS 1, Condition Bool aws:MFA true",
  ],
  [
    "others may no longer write orders",
    set("Orders.ResourcePolicy", undefined),
    '{"PolicyDocument":{"Statement":["Allow Principal AWS 222222222222, ' +
      'Action dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem, dynamodb:ConditionCheckItem, Resource *"],' +
      '"Version":"2012-10-17"}} becomes unset',
  ],
  [
    "routes no longer ask for keys",
    (next) => {
      set(`${cancelRoute}.AuthorizationType`, "NONE")(next);
      set("Api/Rest/Default/store/orders/GET.AuthorizationType", undefined)(next);
    },
    "! Api/Rest/Default/store/orders/GET: AuthorizationType: CUSTOM becomes unset",
    `! ${cancelRoute}: AuthorizationType: CUSTOM becomes NONE`,
  ],
  [
    "people gain a grant of all but an action",
    add("Own", "IAM::Policy", {
      Groups: ["ops"],
      Users: ["eve"],
      PolicyDocument: {
        Statement: { Effect: "Allow", NotAction: "s3:Get", Resource: "*" },
      },
    }),
    "! Own: a new IAM::Policy; Groups.0 ops; Users.0 eve; PolicyDocument.Statement Allow Principal ops, eve, NotAction s3:Get, Resource *",
  ],
  [
    "new routes ask for AWS's signatures, or say nothing of keys",
    (next) => {
      add("Signed", "ApiGateway::Method", { AuthorizationType: "AWS_IAM" })(next);
      add("Open", "ApiGateway::Method", { HttpMethod: "GET" })(next);
      add("Route", "ApiGatewayV2::Route", { RouteKey: "GET /" })(next);
    },
    "! Open: a new ApiGateway::Method; HttpMethod GET",
    "! Route: a new ApiGatewayV2::Route; RouteKey GET /",
    "  Signed: a new ApiGateway::Method; AuthorizationType AWS_IAM",
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
    "orders can be deleted, go with the stack, have no backups, or expire",
    (next) => {
      set("Orders.DeletionProtectionEnabled", false)(next);
      set("Orders.PointInTimeRecoverySpecification", undefined)(next);
      set("Orders.TimeToLiveSpecification", { AttributeName: "shipDate" })(next);
      const gone = { DeletionPolicy: "Delete", UpdateReplacePolicy: "Delete" };
      Object.assign(at(next, "Orders").resource, gone);
    },
    "! Orders: DeletionPolicy: Retain becomes Delete",
    "! Orders: DeletionProtectionEnabled: true becomes false",
    '! Orders: PointInTimeRecoverySpecification: {"PointInTimeRecoveryEnabled":true',
    "! Orders: TimeToLiveSpecification: unset becomes",
    "! Orders: UpdateReplacePolicy: Retain becomes Delete",
  ],
  [
    "the API gets another address",
    ({ Outputs = {} }) => Object.assign(Outputs["BaseUrl"] ?? {}, { Value: "x" }),
    // .github/workflows/deploy-environment.yml knows it by this.
    "  Outputs.BaseUrl: Value: https://",
  ],
];
