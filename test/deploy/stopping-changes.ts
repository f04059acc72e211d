import type { Template } from "../../infra/deploy/template.ts";
import { every, one } from "./templates.ts";

/** A change that someone would mind, and the names of what is found. */
export interface StoppingChange {
  title: string;
  change: (next: Template) => unknown;
  names: string[];
}

const statement = (template: Template, role: string) =>
  one(template, "IAM::Policy", role).properties["PolicyDocument"].Statement;

/** What other teams, clients and operators rely on, taken away or opened up, one by one. */
export const stoppingChanges: StoppingChange[] = [
  {
    title: "the stream of the orders table is switched off",
    change: (next) =>
      delete one(next, "DynamoDB::Table", "Orders").properties["StreamSpecification"],
    names: ["changed:Orders.StreamSpecification"],
  },
  {
    title: "one of two writing accounts is removed",
    change: (next) => {
      const [allowed] = one(next, "DynamoDB::Table", "Orders").properties["ResourcePolicy"]
        .PolicyDocument.Statement;
      allowed.Principal.AWS.pop();
    },
    names: ["changed:Orders.ResourcePolicy.PolicyDocument.Statement.0.Principal.AWS"],
  },
  {
    title: "a writing account is added",
    change: (next) => {
      const [allowed] = one(next, "DynamoDB::Table", "Orders").properties["ResourcePolicy"]
        .PolicyDocument.Statement;
      allowed.Principal.AWS.push("444444444444");
    },
    names: ["changed:Orders.ResourcePolicy.PolicyDocument.Statement.0.Principal.AWS"],
  },
  {
    title: "orders expire",
    change: (next) => {
      const expiry = { AttributeName: "shipDate", Enabled: true };
      one(next, "DynamoDB::Table", "Orders").properties["TimeToLiveSpecification"] = expiry;
    },
    names: ["changed:Orders.TimeToLiveSpecification"],
  },
  {
    title: "the key of orders gets another type",
    change: (next) => {
      const attributes = [{ AttributeName: "id", AttributeType: "S" }];
      one(next, "DynamoDB::Table", "Orders").properties["AttributeDefinitions"] = attributes;
    },
    names: ["changed:Orders.AttributeDefinitions.0.AttributeType"],
  },
  {
    title: "a table is replaced by one with another key",
    change: (next) => {
      const key = [{ AttributeName: "orderId", KeyType: "HASH" }];
      one(next, "DynamoDB::Table", "Orders").properties["KeySchema"] = key;
    },
    names: ["replaced:Orders"],
  },
  {
    title: "a table loses its throughput limit",
    change: (next) =>
      delete one(next, "DynamoDB::Table", "Orders").properties["OnDemandThroughput"],
    names: ["changed:Orders.OnDemandThroughput"],
  },
  {
    title: "the route of cancellations is dropped",
    change: (next) => {
      delete next.Resources[one(next, "ApiGateway::Method", "ApiReststoreordersorderIdDELETE").id];
    },
    names: ["removed:Api/Rest/Default/store/orders/{orderId}/DELETE"],
  },
  {
    title: "a method is no longer throttled",
    change: (next) => {
      const [all] = one(next, "ApiGateway::Stage").properties["MethodSettings"];
      delete all.ThrottlingRateLimit;
    },
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings.0.ThrottlingRateLimit"],
  },
  {
    title: "a stage loses the settings of a method that it still has",
    change: (next) => one(next, "ApiGateway::Stage").properties["MethodSettings"].pop(),
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings"],
  },
  {
    title: "bodies are logged",
    change: (next) => {
      one(next, "ApiGateway::Stage").properties["MethodSettings"][0].DataTraceEnabled = true;
    },
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings.0.DataTraceEnabled"],
  },
  {
    title: "another function authorizes",
    change: (next) => {
      const { properties } = one(next, "ApiGateway::Authorizer");
      properties["AuthorizerUri"] = "arn:aws:lambda:eu-central-1:444444444444:function:other";
    },
    names: ["changed:Api/BearerKeys.AuthorizerUri"],
  },
  {
    title: "the authorizer reads another header",
    change: (next) => {
      const header = "method.request.header.X-Key";
      one(next, "ApiGateway::Authorizer").properties["IdentitySource"] = header;
    },
    names: ["changed:Api/BearerKeys.IdentitySource"],
  },
  {
    title: "accepted keys are remembered for an hour",
    change: (next) => {
      one(next, "ApiGateway::Authorizer").properties["AuthorizerResultTtlInSeconds"] = 3600;
    },
    names: ["changed:Api/BearerKeys.AuthorizerResultTtlInSeconds"],
  },
  {
    title: "other keys match",
    change: (next) => {
      one(next, "ApiGateway::Authorizer").properties["IdentityValidationExpression"] = ".*";
    },
    names: ["key-expression"],
  },
  {
    title: "a route loses its authorizer",
    change: (next) => {
      const { properties } = one(next, "ApiGateway::Method", "ApiReststoreordersGET");
      properties["AuthorizationType"] = "NONE";
    },
    names: ["changed:Api/Rest/Default/store/orders/GET.AuthorizationType"],
  },
  {
    title: "a route without the authorizer is added",
    change: (next) => {
      const { properties, resource } = one(next, "ApiGateway::Method", "ApiReststoreordersGET");
      const Properties = { ...properties, HttpMethod: "PUT", AuthorizationType: "NONE" };
      next.Resources["Put"] = { ...resource, Metadata: {}, Properties };
    },
    names: ["added:Put"],
  },
  {
    title: "a role may act on everything",
    change: (next) => {
      statement(next, "CancelOrderRole")[1].Resource = "*";
    },
    names: [
      "grant:CancelOrderRole:dynamodb:UpdateItem:*",
      "revoke:CancelOrderRole:dynamodb:UpdateItem:Orders.Arn",
    ],
  },
  {
    title: "a role gains an action",
    change: (next) => {
      statement(next, "CancelOrderRole")[1].Action = ["dynamodb:UpdateItem", "dynamodb:Scan"];
    },
    names: ["grant:CancelOrderRole:dynamodb:Scan:Orders.Arn"],
  },
  {
    title: "a role gains all actions but some",
    change: (next) => {
      const NotAction = "iam:*";
      statement(next, "CancelOrderRole").push({ Effect: "Allow", NotAction, Resource: "*" });
    },
    names: ["grant:CancelOrderRole:not-iam:*:*"],
  },
  {
    title: "a role gains a managed policy",
    change: (next) => {
      const policies = ["arn:aws:iam::aws:policy/AdministratorAccess"];
      one(next, "IAM::Role", "CancelOrderRole").properties["ManagedPolicyArns"] = policies;
    },
    names: ["grant:CancelOrderRole:AdministratorAccess:*"],
  },
  {
    title: "a role gains an inline policy",
    change: (next) => {
      const allowed = { Effect: "Allow", Action: "dynamodb:PutItem", Resource: "*" };
      const policy = { PolicyName: "own", PolicyDocument: { Statement: [allowed] } };
      one(next, "IAM::Role", "CancelOrderRole").properties["Policies"] = [policy];
    },
    names: ["grant:CancelOrderRole:dynamodb:PutItem:*"],
  },
  {
    title: "a role gains a policy of the stack's own",
    change: (next) => {
      const Roles = [{ Ref: one(next, "IAM::Role", "CancelOrderRole").id }];
      const allowed = { Effect: "Allow", Action: "dynamodb:DeleteItem", Resource: "*" };
      const Properties = { Roles, PolicyDocument: { Statement: [allowed] } };
      next.Resources["Own"] = { Type: "AWS::IAM::ManagedPolicy", Properties };
    },
    names: ["grant:CancelOrderRole:dynamodb:DeleteItem:*"],
  },
  {
    title: "another account may assume a role",
    change: (next) => {
      const { properties } = one(next, "IAM::Role", "CancelOrderRole");
      const Principal = { AWS: "444444444444" };
      const { Statement } = properties["AssumeRolePolicyDocument"];
      Statement.push({ Effect: "Allow", Action: "sts:AssumeRole", Principal });
    },
    names: ["grant:AWS:444444444444:sts:AssumeRole:CancelOrderRole.Arn"],
  },
  {
    title: "a role loses its permissions boundary",
    change: (next) => {
      delete one(next, "IAM::Role", "CancelOrderRole").properties["PermissionsBoundary"];
    },
    names: ["changed:CancelOrderRole.PermissionsBoundary"],
  },
  {
    title: "a function gets a public address",
    change: (next) => {
      const FunctionName = { Ref: one(next, "Lambda::Function", "CancelOrder").id };
      const Action = "lambda:InvokeFunctionUrl";
      const permitted = { Action, FunctionName, Principal: "*", FunctionUrlAuthType: "NONE" };
      next.Resources["Address"] = {
        Type: "AWS::Lambda::Url",
        Properties: { TargetFunctionArn: FunctionName, AuthType: "NONE" },
      };
      next.Resources["Anyone"] = { Type: "AWS::Lambda::Permission", Properties: permitted };
    },
    names: ["added:Address", "grant:*:lambda:InvokeFunctionUrl:CancelOrder"],
  },
  {
    title: "the API becomes private",
    change: (next) => {
      const { properties } = one(next, "ApiGateway::RestApi");
      properties["EndpointConfiguration"] = { Types: ["PRIVATE"] };
    },
    names: ["changed:Api/Rest.EndpointConfiguration.Types.0"],
  },
  {
    title: "a gateway response shows what AWS says",
    change: (next) => {
      const { properties } = one(next, "ApiGateway::GatewayResponse", "ApiRestUNAUTHORIZED");
      const text = '{"message":$context.error.messageString}';
      properties["ResponseTemplates"] = { "application/json": text };
    },
    names: ["changed:Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json"],
  },
  {
    title: "a log group is removed",
    change: (next) => delete next.Resources[one(next, "Logs::LogGroup", "CancelOrderLog").id],
    names: ["removed:CancelOrderLog"],
  },
  {
    title: "a log is kept for a shorter time",
    change: (next) => {
      one(next, "Logs::LogGroup", "CancelOrderLog").properties["RetentionInDays"] = 1;
    },
    names: ["changed:CancelOrderLog.RetentionInDays"],
  },
  {
    title: "the access log is switched off",
    change: (next) => delete one(next, "ApiGateway::Stage").properties["AccessLogSetting"],
    names: ["changed:Api/Rest/DeploymentStage.v1.AccessLogSetting"],
  },
  {
    title: "an alarm is removed",
    change: (next) => delete next.Resources[one(next, "CloudWatch::Alarm", "AlarmsCancelSlow").id],
    names: ["removed:Alarms/CancelSlow"],
  },
  {
    title: "an alarm tells no one",
    change: (next) => {
      delete one(next, "CloudWatch::Alarm", "AlarmsCancelSlow").properties["AlarmActions"];
    },
    names: ["alarm-actions"],
  },
  {
    title: "an alarm watches something else",
    change: (next) => {
      one(next, "CloudWatch::Alarm", "AlarmsCancelSlow").properties["MetricName"] = "Duration2";
    },
    names: ["changed:Alarms/CancelSlow.MetricName"],
  },
  {
    title: "an alarm's expression is another one",
    change: (next) => {
      const { properties } = one(next, "CloudWatch::Alarm", "AlarmsKeysRejected");
      properties["Metrics"][0].Expression = "0 * failed";
    },
    names: ["changed:Alarms/KeysRejected.Metrics.0.Expression"],
  },
  {
    title: "the topic goes, with subscriptions that were made by hand",
    change: (next) => delete next.Resources[one(next, "SNS::Topic").id],
    names: ["removed:Alarms/Topic"],
  },
  {
    title: "the canary goes for good",
    change: (next) => {
      delete one(next, "Lambda::Alias", "CancelOrder").resource["UpdatePolicy"];
    },
    names: ["canary-removed"],
  },
  {
    title: "the DNS record is removed",
    change: (next) => delete next.Resources[one(next, "Route53::RecordSet").id],
    names: ["removed:Api/Domain/Record"],
  },
  {
    title: "the DNS record moves to another zone",
    change: (next) => {
      one(next, "Route53::RecordSet").properties["HostedZoneId"] = "Z1";
    },
    names: ["replaced:Api/Domain/Record"],
  },
  {
    title: "the mapping of the base path is removed",
    change: (next) => delete next.Resources[one(next, "ApiGateway::BasePathMapping").id],
    names: ["removed:Api/Domain/BasePath"],
  },
  {
    title: "a bucket of the team's own is removed",
    change: (next) => delete next.Resources["OwnBucket"],
    names: ["removed:OwnBucket"],
  },
  {
    title: "a table of the team's own is added",
    change: (next) => {
      next.Resources["OwnTable"] = { Type: "AWS::DynamoDB::Table" };
    },
    names: ["added:OwnTable"],
  },
  {
    title: "an output that others read is removed",
    change: ({ Outputs = {} }) => delete Outputs["AlarmsTopicArn"],
    names: ["removed:Outputs.AlarmsTopicArn"],
  },
  {
    title: "the base address is another one",
    change: ({ Outputs = {} }) => {
      Outputs["BaseUrl"] = { Value: "https://example.com/v1" };
    },
    names: ["base-url"],
  },
  {
    title: "older TLS is let in",
    change: (next) => {
      one(next, "ApiGateway::DomainName").properties["SecurityPolicy"] = "TLS_1_0";
    },
    names: ["tls"],
  },
  {
    title: "a function no longer finds its table",
    change: (next) => {
      delete one(next, "Lambda::Function", "CancelOrder").properties["Environment"].Variables
        .ORDERS_TABLE;
    },
    names: ["changed:CancelOrder.Environment.Variables.ORDERS_TABLE"],
  },
  {
    title: "the authorizer is of another kind",
    change: (next) => {
      one(next, "ApiGateway::Authorizer").properties["Type"] = "REQUEST";
    },
    names: ["changed:Api/BearerKeys.Properties.Type"],
  },
  {
    title: "all other methods are no longer throttled",
    change: (next) => one(next, "ApiGateway::Stage").properties["MethodSettings"].shift(),
    names: ["changed:Api/Rest/DeploymentStage.v1.MethodSettings"],
  },
  {
    title: "the table of keys has a stream",
    change: (next) => {
      const stream = { StreamViewType: "NEW_AND_OLD_IMAGES" };
      one(next, "DynamoDB::Table", "ApiKeys").properties["StreamSpecification"] = stream;
    },
    names: ["changed:ApiKeys.StreamSpecification"],
  },
  {
    title: "functions move to a table that no restore has made",
    change: (next) => {
      const { id, resource } = one(next, "DynamoDB::Table", "Orders");
      const Properties = { ...resource.Properties, TableName: "OTHER", BillingMode: "PROVISIONED" };
      next.Resources["Other"] = { ...resource, Metadata: {}, Properties };
      for (const { Properties: properties } of every(next, "Lambda::Function")) {
        const variables = properties?.["Environment"].Variables;
        if (variables.ORDERS_TABLE?.Ref === id) variables.ORDERS_TABLE = { Ref: "Other" };
      }
    },
    names: ["orders-table-in-use", "added:Other"],
  },
  {
    title: "a role's policy depends on a condition",
    change: (next) => {
      const allowed = { Effect: "Allow", Action: "*", Resource: "*" };
      statement(next, "CancelOrderRole").push({ "Fn::If": ["Always", allowed, allowed] });
    },
    names: ["changed:CancelOrderRole/DefaultPolicy.PolicyDocument.Statement"],
  },
  {
    title: "a policy that is attached elsewhere is added",
    change: (next) => {
      const allowed = { Effect: "Allow", Action: "*", Resource: "*" };
      const Properties = { PolicyDocument: { Statement: [allowed] } };
      next.Resources["Own"] = { Type: "AWS::IAM::ManagedPolicy", Properties };
    },
    names: ["added:Own"],
  },
  {
    title: "a role is removed",
    change: (next) => delete next.Resources[one(next, "IAM::Role", "RolloutRole").id],
    names: ["removed:Rollout/Role"],
  },
  {
    title: "all variables of a function are removed",
    change: (next) => delete one(next, "Lambda::Function", "CancelOrder").properties["Environment"],
    names: ["changed:CancelOrder.Environment"],
  },
  {
    title: "a variable steers the runtime",
    change: (next) => {
      const { properties } = one(next, "Lambda::Function", "CancelOrder");
      properties["Environment"].Variables.LD_PRELOAD = "/tmp/other.so";
    },
    names: ["changed:CancelOrder.Environment.Variables.LD_PRELOAD"],
  },
  {
    title: "code comes from another bucket",
    change: (next) => {
      one(next, "Lambda::Function", "CancelOrder").properties["Code"].S3Bucket = "others";
    },
    names: ["changed:CancelOrder.Code.S3Bucket"],
  },
  {
    title: "an alias leads to the code that is not published",
    change: (next) => {
      const { properties } = one(next, "Lambda::Alias", "CancelOrder");
      properties["FunctionVersion"] = "$LATEST";
    },
    names: ["changed:CancelOrder/Aliaslive.FunctionVersion"],
  },
  {
    title: "an error has another code",
    change: (next) => {
      const { properties } = one(next, "ApiGateway::GatewayResponse", "ApiRestUNAUTHORIZED");
      const text = '{"code":"denied","message":"Missing or invalid API key","status":401}';
      properties["ResponseTemplates"] = { "application/json": text };
    },
    names: ["changed:Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json"],
  },
  {
    title: "a metric counts other lines",
    change: (next) => {
      one(next, "Logs::MetricFilter", "LogMetricsListsCutOff").properties["FilterPattern"] = "x";
    },
    names: ["changed:LogMetrics/ListsCutOff.FilterPattern"],
  },
  {
    title: "a new alarm calls something else than a topic",
    change: (next) => {
      const { properties } = one(next, "CloudWatch::Alarm", "AlarmsCancelSlow");
      const AlarmActions = ["arn:aws:lambda:eu-central-1:111111111111:function:other"];
      const Properties = { ...properties, AlarmActions };
      next.Resources["Own"] = { Type: "AWS::CloudWatch::Alarm", Properties };
    },
    names: ["added:Own"],
  },
  {
    title: "a value comes from elsewhere",
    change: (next) => {
      const { properties } = one(next, "Lambda::Function", "CancelOrder");
      properties["Environment"].Variables.LEVEL = "{{resolve:ssm:level}}";
    },
    names: ["value-elsewhere"],
  },
  {
    title: "an output is exported under another name",
    change: ({ Outputs = {} }) => {
      const [name = ""] = Object.keys(Outputs);
      Outputs[name] = { ...Outputs[name], Value: Outputs[name]?.Value, Export: { Name: "x" } };
    },
    names: ["changed:Outputs.AlarmsTopicArn.Export"],
  },
];
