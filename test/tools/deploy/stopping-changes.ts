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

/** Each stops a deployment with findings of these names. */
export const stoppingChanges: [title: string, change: Change, ...names: string[]][] = [
  [
    "an alias points to unpublished code",
    set("CancelOrder/Aliaslive.FunctionVersion", "$LATEST"),
    "CancelOrder/Aliaslive.FunctionVersion=DIGEST",
  ],
  [
    "the tables lose a tag",
    (next) => {
      for (const { Properties } of every(next, "DynamoDB::Table"))
        Properties?.["Tags"].splice(-1);
    },
    "DynamoDB::Table.Tags.team=unset@DIGEST",
  ],
  [
    "older TLS is accepted",
    (next) => {
      for (const path of ["Api/Domain/Name", "Api/Rest"])
        set(`${path}.SecurityPolicy`, "TLS_1_0")(next);
    },
    // .github/workflows/deploy.yml knows a change of TLS by these.
    "Api/Rest.SecurityPolicy=TLS_1_0",
    "Api/Domain/Name.SecurityPolicy=TLS_1_0",
  ],
  [
    "a public address hides behind the path of a version",
    (next) => {
      const Metadata = { "aws:cdk:path": "Stack/Address/Resource" };
      add("Address", "Lambda::Url", { AuthType: "NONE" })(next);
      for (const id of ["Version", "Another"])
        addLike("CancelOrder/CurrentVersion", id, {}, { Metadata })(next);
    },
    "added:Address@DIGEST",
    "added:Address@DIGEST",
    "added:Address@DIGEST",
  ],
  [
    "a function is added, beside a change that is more than references to it",
    (next) => {
      addFunction(next);
      set("CancelOrder.Layers", [{ Ref: "Other" }, "arn:aws:lambda:eu:1:layer:x:1"])(
        next,
      );
    },
    "CancelOrder.Layers=DIGEST",
    "added:Other@DIGEST",
  ],
  [
    "a function inside a construct is added",
    (next) =>
      addFunction(next, { Metadata: { "aws:cdk:path": "Stack/Team/Other/Resource" } }),
    "added:OtherRole@DIGEST",
  ],
  [
    "a role's policy depends on a condition",
    push(statements, { "Fn::If": ["Always", allowsAll, allowsAll] }),
    `${statements}=DIGEST`,
  ],
  [
    "a table becomes something else",
    (next) => Object.assign(at(next, "Orders").resource, { Type: "AWS::S3::Bucket" }),
    "replaced:Orders.Type=AWS::S3::Bucket",
  ],
  [
    "functions move to another table",
    (next) => {
      addLike("Orders", "Other", { TableName: "OTHER" })(next);
      moveOrders(next, "Other");
    },
    "Lambda::Function.Environment.Variables.ORDERS_TABLE={Other}@DIGEST",
    "added:Other@DIGEST",
  ],
  [
    "functions and a role move from the orders to the keys",
    (next) => {
      const { Ref } = reference(next, "ApiKeys");
      moveOrders(next, Ref);
      set(`${statements}.1.Resource`, { "Fn::GetAtt": [Ref, "Arn"] })(next);
    },
    `${statements}=DIGEST`,
    "Lambda::Function.Environment.Variables.ORDERS_TABLE={ApiKeys}@DIGEST",
  ],
  [
    "anyone may write to a new log",
    add("Own", "Logs::LogGroup", {
      ResourcePolicyDocument: { Statement: { Principal: "*" } },
    }),
    "added:Own@DIGEST",
  ],
  [
    "an alarm no longer rolls its function back",
    edit("Rollout/CancelOrder.AlarmConfiguration.Alarms", (list) => list.pop()),
    "Rollout/CancelOrder.AlarmConfiguration.Alarms=DIGEST",
  ],
  [
    "a gateway response shows AWS's own message",
    set(
      response,
      '{"code":"unauthorized","message":"$context.error.message","status":401}',
    ),
    `${response}.message=DIGEST`,
  ],
  [
    "a gateway response is no longer an Error record",
    set(response, "null"),
    `${response}=null`,
  ],
  [
    "a text comes from Parameter Store",
    set("Api/Rest.Description", "{{resolve:ssm:text}}"),
    "Api/Rest.Description={{resolve:ssm:text}}",
  ],
  [
    "a text comes from another stack",
    set("Api/Rest.Description", { "Fn::ImportValue": "Text" }),
    "Api/Rest.Description=DIGEST",
  ],
  [
    "a variable steers the runtime",
    set("CancelOrder.Environment.Variables.LD_PRELOAD", "/tmp/other.so"),
    "CancelOrder.Environment.Variables.LD_PRELOAD=/tmp/other.so",
  ],
  [
    "a role gains an inline policy",
    set("CancelOrderRole.Policies", [{ PolicyDocument: { Statement: [allowsAll] } }]),
    "CancelOrderRole.Policies=DIGEST",
  ],
  [
    "orders expire",
    set("Orders.TimeToLiveSpecification", { AttributeName: "shipDate", Enabled: true }),
    "Orders.TimeToLiveSpecification=DIGEST",
  ],
  [
    "an output is exported under another name",
    ({ Outputs }) => Object.assign(Object(Outputs)["AlarmsTopicArn"], { Export: "x" }),
    "Outputs.AlarmsTopicArn.Export=x",
  ],
];
