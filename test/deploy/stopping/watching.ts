import { one } from "../templates.ts";
import { add, remove, type StoppingChange, set, unset, type Which } from "./change.ts";

const slowAlarm: Which = ["CloudWatch::Alarm", "AlarmsCancelSlow"];
const canary: Which = ["CodeDeploy::DeploymentGroup", "RolloutCancelOrder"];
const cancelLog: Which = ["Logs::LogGroup", "CancelOrderLog"];

/** Changes of logs, alarms, metrics and outputs that stop a deployment. */
export const watchingChanges: StoppingChange[] = [
  {
    title: "a log group is removed",
    change: remove(cancelLog),
    names: [
      "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement=DIGEST",
      "CancelOrder.LoggingConfig.LogGroup={CancelOrderLogC0E28DCE}@DIGEST",
      "removed:CancelOrderLog@DIGEST",
    ],
  },
  {
    title: "a log is kept for a shorter time",
    change: set(cancelLog, "RetentionInDays", 1),
    names: ["CancelOrderLog.RetentionInDays=1"],
  },
  {
    title: "a log is encrypted with a key of another account",
    change: add("Own", {
      Type: "AWS::Logs::LogGroup",
      Properties: { KmsKeyId: "arn:aws:kms:eu-central-1:444444444444:key/x" },
    }),
    names: ["added:Own@DIGEST"],
  },
  {
    title: "anyone may write to a new log",
    change: add("Own", {
      Type: "AWS::Logs::LogGroup",
      Properties: { ResourcePolicyDocument: { Statement: { Principal: "*" } } },
    }),
    names: ["added:Own@DIGEST"],
  },
  {
    title: "an alarm's limit is out of reach",
    change: set(slowAlarm, "Threshold", 1e9),
    names: ["Alarms/CancelSlow.Threshold=1000000000"],
  },
  {
    title: "an alarm no longer rolls its function back",
    change: (next) => one(next, ...canary).properties["AlarmConfiguration"].Alarms.pop(),
    names: ["Rollout/CancelOrder.AlarmConfiguration.Alarms=DIGEST"],
  },
  {
    title: "an alarm is removed",
    change: remove(slowAlarm),
    names: ["removed:Alarms/CancelSlow@DIGEST"],
  },
  {
    title: "an alarm notifies no one",
    change: unset(slowAlarm, "AlarmActions"),
    names: ["Alarms/CancelSlow.AlarmActions=unset"],
  },
  {
    title: "an alarm watches another metric",
    change: set(slowAlarm, "MetricName", "Duration2"),
    names: ["Alarms/CancelSlow.MetricName=Duration2"],
  },
  {
    title: "an alarm's expression changes",
    change: set(["CloudWatch::Alarm", "AlarmsKeysRejected"], "Metrics.0.Expression", "0 * failed"),
    names: ["Alarms/KeysRejected.Metrics.0.Expression=DIGEST"],
  },
  {
    title: "a new alarm calls something other than a topic",
    change: (next) => {
      const { properties } = one(next, ...slowAlarm);
      const AlarmActions = ["arn:aws:lambda:eu-central-1:111111111111:function:other"];
      const Properties = { ...properties, AlarmActions };
      next.Resources["Own"] = { Type: "AWS::CloudWatch::Alarm", Properties };
    },
    names: ["added:Own@DIGEST"],
  },
  {
    title: "the alarms' topic is removed, with subscriptions made by hand",
    change: remove(["SNS::Topic"]),
    names: ["Alarms/Topic/Policy.PolicyDocument.Statement=DIGEST", "removed:Alarms/Topic@DIGEST"],
  },
  {
    title: "a metric counts other lines",
    change: set(["Logs::MetricFilter", "LogMetricsListsCutOff"], "FilterPattern", "x"),
    names: ["LogMetrics/ListsCutOff.FilterPattern=x"],
  },
  {
    title: "an output is removed",
    change: ({ Outputs = {} }) => delete Outputs["AlarmsTopicArn"],
    names: ["removed:Outputs.AlarmsTopicArn@DIGEST"],
  },
  {
    title: "an output is exported under another name",
    change: ({ Outputs = {} }) => {
      const [name = ""] = Object.keys(Outputs);
      Outputs[name] = { ...Outputs[name], Value: Outputs[name]?.Value, Export: { Name: "x" } };
    },
    names: ["Outputs.AlarmsTopicArn.Export=DIGEST"],
  },
];
