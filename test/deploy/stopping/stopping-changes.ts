import type { Template } from "../../../infra/deploy/template.ts";
import {
  add,
  addLike,
  at,
  type Change,
  edit,
  every,
  push,
  reference,
  remove,
  set,
} from "../templates.ts";

const statements = "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement";
const allowsAll = { Effect: "Allow", Action: "*", Resource: "*" };
const methodSettings = "Api/Rest/DeploymentStage.v1.MethodSettings";
const route = "Api/Rest/Default/store/orders";

/** Has the functions find their orders in another table. */
function moveOrders(next: Template, table: string): void {
  const { Ref } = reference(next, "Orders");
  for (const { Properties } of every(next, "Lambda::Function")) {
    const variables = Properties?.["Environment"].Variables;
    if (variables.ORDERS_TABLE?.Ref === Ref) variables.ORDERS_TABLE = { Ref: table };
  }
}

/** Adds a function like CancelOrder, with a role of its own: an operation, if nothing differs. */
const addFunction =
  (properties: object = {}, attributes: object = {}): Change =>
  (next) => {
    addLike("CancelOrderRole", "OtherRole")(next);
    const Role = { "Fn::GetAtt": ["OtherRole", "Arn"] };
    addLike("CancelOrder", "Other", { Role, ...properties }, attributes)(next);
  };

/** Changes that stop a deployment, each on its own, and the names of its findings. */
export const stoppingChanges: [title: string, change: Change, ...names: string[]][] = [
  [
    "another function authorizes",
    set(
      "Api/BearerKeys.AuthorizerUri",
      "arn:aws:lambda:eu-central-1:444444444444:function:other-authorizer",
    ),
    "Api/BearerKeys.AuthorizerUri=DIGEST",
  ],
  [
    "an alias points to unpublished code",
    set("CancelOrder/Aliaslive.FunctionVersion", "$LATEST"),
    "CancelOrder/Aliaslive.FunctionVersion=DIGEST",
  ],
  [
    "a table is replaced by one with another key",
    set("Orders.KeySchema.0.AttributeName", "orderId"),
    "replaced:Orders.KeySchema.0.AttributeName=orderId",
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
    "the route of cancellations is dropped",
    remove(`${route}/{orderId}/DELETE`),
    `removed:${route}/{orderId}/DELETE@DIGEST`,
  ],
  [
    "a stage loses the settings of a method that it still has",
    edit(methodSettings, (list) => list.pop()),
    `${methodSettings}=DIGEST`,
  ],
  [
    "all other methods are no longer throttled",
    edit(methodSettings, (list) => list.shift()),
    `${methodSettings}=DIGEST`,
  ],
  [
    "the settings of a method are listed twice",
    edit(methodSettings, (list) => list.push(list.at(-1))),
    `${methodSettings}=DIGEST`,
  ],
  [
    "a route without the authorizer is added",
    addLike(`${route}/GET`, "Put", { HttpMethod: "PUT", AuthorizationType: "NONE" }),
    "added:Put@DIGEST",
  ],
  [
    "the DNS record is removed",
    remove("Api/Domain/Record"),
    "removed:Api/Domain/Record@DIGEST",
  ],
  [
    "the mapping of the base path is removed",
    remove("Api/Domain/BasePath"),
    "removed:Api/Domain/BasePath@DIGEST",
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
    "a function gets a public address",
    (next) => {
      const FunctionName = reference(next, "CancelOrder");
      const url = { TargetFunctionArn: FunctionName, AuthType: "NONE" };
      const Action = "lambda:InvokeFunctionUrl";
      const permitted = {
        Action,
        FunctionName,
        Principal: "*",
        FunctionUrlAuthType: "NONE",
      };
      add("Address", "Lambda::Url", url)(next);
      add("Anyone", "Lambda::Permission", permitted)(next);
    },
    "added:Address@DIGEST",
    "added:Anyone@DIGEST",
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
  ["a function is added", addFunction(), "added:Other@DIGEST"],
  [
    "a function is added, beside a change that is more than references to it",
    (next) => {
      addFunction()(next);
      set("CancelOrder.Layers", [{ Ref: "Other" }, "arn:aws:lambda:eu:1:layer:x:1"])(next);
    },
    "CancelOrder.Layers=DIGEST",
    "added:Other@DIGEST",
  ],
  [
    "a function with a layer is added",
    addFunction({ Layers: ["arn:aws:lambda:eu-central-1:1:layer:x:1"] }),
    "added:Other@DIGEST",
  ],
  [
    "a function with the role of another is added",
    (next) => addFunction({ Role: at(next, "CancelOrder").properties["Role"] })(next),
    "added:OtherRole@DIGEST",
    "added:Other@DIGEST",
  ],
  [
    "a function inside a construct is added",
    addFunction({}, { Metadata: { "aws:cdk:path": "Stack/Team/Other/Resource" } }),
    "added:OtherRole@DIGEST",
  ],
  [
    "a role gains every action outside IAM",
    push(statements, { Effect: "Allow", NotAction: "iam:*", Resource: "*" }),
    `${statements}=DIGEST`,
  ],
  [
    "a role gains a policy of the stack's own",
    (next) => {
      const Roles = [reference(next, "CancelOrderRole")];
      const PolicyDocument = { Statement: [allowsAll] };
      add("Own", "IAM::ManagedPolicy", { Roles, PolicyDocument })(next);
    },
    "added:Own@DIGEST",
  ],
  [
    "another account may assume a role",
    push("CancelOrderRole.AssumeRolePolicyDocument.Statement", {
      Effect: "Allow",
      Action: "sts:AssumeRole",
      Principal: { AWS: "444444444444" },
    }),
    "CancelOrderRole.AssumeRolePolicyDocument.Statement=DIGEST",
  ],
  [
    "a role's policy depends on a condition",
    push(statements, { "Fn::If": ["Always", allowsAll, allowsAll] }),
    `${statements}=DIGEST`,
  ],
  [
    "a policy that the stack attaches to no role is added",
    add("Own", "IAM::ManagedPolicy", { PolicyDocument: { Statement: [allowsAll] } }),
    "added:Own@DIGEST",
  ],
  ["a role is removed", remove("Rollout/Role"), "removed:Rollout/Role@DIGEST"],
  [
    "a writing account is added",
    push("Orders.ResourcePolicy.PolicyDocument.Statement.0.Principal.AWS", "444444444444"),
    "Orders.ResourcePolicy.PolicyDocument.Statement=DIGEST",
  ],
  [
    "a bucket of the team's own becomes something else",
    (next) =>
      Object.assign(at(next, "OwnBucket").resource, { Type: "AWS::S3::AccessPoint" }),
    "replaced:OwnBucket.Type=AWS::S3::AccessPoint",
  ],
  [
    "a bucket of the team's own is removed",
    remove("OwnBucket"),
    "removed:OwnBucket@DIGEST",
  ],
  [
    "a table of the team's own is added",
    add("OwnTable", "DynamoDB::Table", {}),
    "added:OwnTable@DIGEST",
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
    "a log group is removed",
    remove("CancelOrderLog"),
    `${statements}=DIGEST`,
    "removed:CancelOrderLog@DIGEST",
    "CancelOrder.LoggingConfig.LogGroup={CancelOrderLogC0E28DCE}@DIGEST",
  ],
  [
    "a log is encrypted with a key of another account",
    add("Own", "Logs::LogGroup", {
      KmsKeyId: "arn:aws:kms:eu-central-1:444444444444:key/x",
    }),
    "added:Own@DIGEST",
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
  ["an alarm is removed", remove("Alarms/CancelSlow"), "removed:Alarms/CancelSlow@DIGEST"],
  [
    "a new alarm calls something other than a topic",
    addLike("Alarms/CancelSlow", "Own", {
      AlarmActions: ["arn:aws:lambda:eu-central-1:111111111111:function:other"],
    }),
    "added:Own@DIGEST",
  ],
  [
    "the alarms' topic is removed, with subscriptions made by hand",
    remove("Alarms/Topic"),
    "Alarms/Topic/Policy.PolicyDocument.Statement=DIGEST",
    "removed:Alarms/Topic@DIGEST",
  ],
];
