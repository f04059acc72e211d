import type { Template } from "../../infra/deploy/template.ts";
import { add, set, type Which } from "./stopping/change.ts";
import { one } from "./templates.ts";

const cancelOrder: Which = ["Lambda::Function", "CancelOrder"];
const slowAlarm: Which = ["CloudWatch::Alarm", "AlarmsCancelSlow"];

function changeMethodText(next: Template): void {
  const { properties } = one(next, "ApiGateway::Method", "ApiReststoreordersANY");
  const [response] = properties["Integration"].IntegrationResponses;
  const text = JSON.parse(response.ResponseTemplates["application/json"]);
  response.ResponseTemplates["application/json"] = JSON.stringify({ ...text, message: "Another" });
}

/** Changes that stop no deployment. */
export const ordinaryChanges: [what: string, change: (next: Template) => unknown][] = [
  [
    "new code",
    (next) => {
      const { properties } = one(next, ...cancelOrder);
      properties["Code"] = { ...properties["Code"], S3Key: "new" };
      const { id, resource } = one(next, "Lambda::Version", "CancelOrder");
      delete next.Resources[id];
      next.Resources["NewVersion"] = resource;
      const alias = one(next, "Lambda::Alias", "CancelOrder").properties;
      alias["FunctionVersion"] = { "Fn::GetAtt": ["NewVersion", "Version"] };
    },
  ],
  [
    "another deployment of the API",
    (next) => {
      const { id, resource } = one(next, "ApiGateway::Deployment");
      delete next.Resources[id];
      next.Resources["Newer"] = resource;
      one(next, "ApiGateway::Stage").properties["DeploymentId"] = { Ref: "Newer" };
    },
  ],
  ["other memory", set(cancelOrder, "MemorySize", 1024)],
  ["another timeout", set(cancelOrder, "Timeout", 20)],
  [
    "another dependency between resources",
    (next) => {
      one(next, ...cancelOrder).resource["DependsOn"] = ["OwnBucket"];
    },
  ],
  [
    "other metadata of a resource",
    (next) => {
      one(next, ...cancelOrder).resource["Metadata"].own = "1";
    },
  ],
  ["another description", set(["ApiGateway::RestApi"], "Description", "Another")],
  [
    "another error text of the gateway",
    set(["ApiGateway::GatewayResponse", "ApiRestUNAUTHORIZED"], "ResponseTemplates", {
      "application/json": '{"code":"unauthorized","message":"An \\"other\\"","status":401}',
    }),
  ],
  ["another error text of a method", changeMethodText],
  ["Node 26", set(cancelOrder, "Runtime", "nodejs26.x")],
  [
    "keys that are cached for half as long again",
    set(["ApiGateway::Authorizer"], "AuthorizerResultTtlInSeconds", 68),
  ],
  [
    "another time limit of a method",
    set(["ApiGateway::Method", "ApiReststoreordersGET"], "Integration.TimeoutInMillis", 800_000),
  ],
  [
    "a new log group",
    add("NewLog", { Type: "AWS::Logs::LogGroup", Properties: { RetentionInDays: 1 } }),
  ],
  ["another dashboard", set(["CloudWatch::Dashboard"], "DashboardBody", "{}")],
  ["another description of an alarm", set(slowAlarm, "AlarmDescription", "Another")],
  ["another number of data points to alarm", set(slowAlarm, "DatapointsToAlarm", 2)],
  ["another number of evaluation periods", set(slowAlarm, "EvaluationPeriods", 9)],
  [
    "a new metric filter",
    (next) => {
      const { properties } = one(next, "Logs::MetricFilter", "LogMetricsOrdersListed");
      next.Resources["New"] = { Type: "AWS::Logs::MetricFilter", Properties: properties };
    },
  ],
  [
    "a new alarm that rolls its function back",
    (next) => {
      next.Resources["NewAlarm"] = structuredClone(one(next, ...slowAlarm).resource);
      const group = one(next, "CodeDeploy::DeploymentGroup", "RolloutCancelOrder").properties;
      group["AlarmConfiguration"].Alarms.push({ Name: { Ref: "NewAlarm" } });
    },
  ],
  [
    "someone else whom alarms notify",
    (next) => {
      const Properties = { TopicArn: { Ref: one(next, "SNS::Topic").id }, Endpoint: "a@b.example" };
      next.Resources["Own"] = { Type: "AWS::SNS::Subscription", Properties };
    },
  ],
  ["a new output", ({ Outputs = {} }) => Object.assign(Outputs, { Own: { Value: "1" } })],
];
