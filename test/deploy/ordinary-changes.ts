import type { Template } from "../../infra/deploy/template.ts";
import { add, addLike, at, type Change, push, reference, set } from "./templates.ts";

/** What CDK renames with every build: replaces a resource by the same one under another id. */
function rename(next: Template, path: string, id: string): void {
  const old = at(next, path);
  delete next.Resources[old.id];
  next.Resources[id] = old.resource;
}

/** Changes that stop no deployment. */
export const ordinaryChanges: [what: string, change: Change][] = [
  [
    "new code",
    (next) => {
      set("CancelOrder.Code.S3Key", "new")(next);
      rename(next, "CancelOrder/CurrentVersion", "NewVersion");
      const version = { "Fn::GetAtt": ["NewVersion", "Version"] };
      set("CancelOrder/Aliaslive.FunctionVersion", version)(next);
    },
  ],
  [
    "another deployment of the API",
    (next) => {
      rename(next, "Api/Rest/Deployment", "Newer");
      set("Api/Rest/DeploymentStage.v1.DeploymentId", { Ref: "Newer" })(next);
    },
  ],
  ["other memory", set("CancelOrder.MemorySize", 1024)],
  ["another timeout", set("CancelOrder.Timeout", 20)],
  ["another dependency between resources", set("CancelOrder.DependsOn", ["OwnBucket"])],
  ["other metadata of a resource", set("CancelOrder.Metadata.own", "1")],
  ["another description", set("Api/Rest.Description", "Another")],
  [
    "another error text of the gateway",
    set(
      "Api/Rest/UNAUTHORIZED.ResponseTemplates.application/json",
      '{"code":"unauthorized","message":"An \\"other\\"","status":401}',
    ),
  ],
  [
    "another error text of a method",
    (next) => {
      const { Integration } = at(next, "Api/Rest/Default/store/orders/ANY").properties;
      const { ResponseTemplates } = Integration.IntegrationResponses[0];
      const text = JSON.parse(ResponseTemplates["application/json"]);
      ResponseTemplates["application/json"] = JSON.stringify({
        ...text,
        message: "Another",
      });
    },
  ],
  ["Node 26", set("CancelOrder.Runtime", "nodejs26.x")],
  [
    "keys that are cached for half as long again",
    set("Api/BearerKeys.AuthorizerResultTtlInSeconds", 68),
  ],
  [
    "another time limit of a method",
    set("Api/Rest/Default/store/orders/GET.Integration.TimeoutInMillis", 800_000),
  ],
  ["a new log group", add("NewLog", "Logs::LogGroup", { RetentionInDays: 1 })],
  ["another dashboard", set("Dashboard/Dashboard.DashboardBody", "{}")],
  ["another description of an alarm", set("Alarms/CancelSlow.AlarmDescription", "Another")],
  ["another number of data points to alarm", set("Alarms/CancelSlow.DatapointsToAlarm", 2)],
  ["another number of evaluation periods", set("Alarms/CancelSlow.EvaluationPeriods", 9)],
  ["a new metric filter", addLike("LogMetrics/OrdersListed", "New")],
  [
    "a new alarm that rolls its function back",
    (next) => {
      addLike("Alarms/CancelSlow", "NewAlarm")(next);
      push("Rollout/CancelOrder.AlarmConfiguration.Alarms", { Name: { Ref: "NewAlarm" } })(
        next,
      );
    },
  ],
  [
    "someone else whom alarms notify",
    (next) => {
      const TopicArn = reference(next, "Alarms/Topic");
      add("Own", "SNS::Subscription", { TopicArn, Endpoint: "a@b.example" })(next);
    },
  ],
  ["a new output", set("Outputs.Own", { Value: "1" })],
];
