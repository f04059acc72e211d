import { one } from "../templates.ts";
import { remove, type StoppingChange, set, unset, type Which } from "./change.ts";

const slowAlarm: Which = ["CloudWatch::Alarm", "AlarmsCancelSlow"];
const cancelLog: Which = ["Logs::LogGroup", "CancelOrderLog"];

/** Changes of logs, alarms, metrics and outputs that stop a deployment. */
export const watchingChanges: StoppingChange[] = [
  {
    title: "a log group is removed",
    change: remove(cancelLog),
    names: ["removed:CancelOrderLog"],
  },
  {
    title: "a log is kept for a shorter time",
    change: set(cancelLog, "RetentionInDays", 1),
    names: ["changed:CancelOrderLog.RetentionInDays"],
  },
  {
    title: "an alarm is removed",
    change: remove(slowAlarm),
    names: ["removed:Alarms/CancelSlow"],
  },
  {
    title: "an alarm notifies no one",
    change: unset(slowAlarm, "AlarmActions"),
    names: ["alarm-actions"],
  },
  {
    title: "an alarm watches another metric",
    change: set(slowAlarm, "MetricName", "Duration2"),
    names: ["changed:Alarms/CancelSlow.MetricName"],
  },
  {
    title: "an alarm's expression changes",
    change: set(["CloudWatch::Alarm", "AlarmsKeysRejected"], "Metrics.0.Expression", "0 * failed"),
    names: ["changed:Alarms/KeysRejected.Metrics.0.Expression"],
  },
  {
    title: "a new alarm calls something other than a topic",
    change: (next) => {
      const { properties } = one(next, ...slowAlarm);
      const AlarmActions = ["arn:aws:lambda:eu-central-1:111111111111:function:other"];
      const Properties = { ...properties, AlarmActions };
      next.Resources["Own"] = { Type: "AWS::CloudWatch::Alarm", Properties };
    },
    names: ["added:Own"],
  },
  {
    title: "the alarms' topic is removed, with subscriptions made by hand",
    change: remove(["SNS::Topic"]),
    names: ["removed:Alarms/Topic"],
  },
  {
    title: "a metric counts other lines",
    change: set(["Logs::MetricFilter", "LogMetricsListsCutOff"], "FilterPattern", "x"),
    names: ["changed:LogMetrics/ListsCutOff.FilterPattern"],
  },
  {
    title: "an output is removed",
    change: ({ Outputs = {} }) => delete Outputs["AlarmsTopicArn"],
    names: ["removed:Outputs.AlarmsTopicArn"],
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
