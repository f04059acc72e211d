import { one } from "../templates.ts";
import type { StoppingChange } from "./stopping-change.ts";

/** Changes of what watches the service, and of what it tells others, that someone would mind. */
export const watchingChanges: StoppingChange[] = [
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
    title: "an output that others read is removed",
    change: ({ Outputs = {} }) => delete Outputs["AlarmsTopicArn"],
    names: ["removed:Outputs.AlarmsTopicArn"],
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
    title: "an output is exported under another name",
    change: ({ Outputs = {} }) => {
      const [name = ""] = Object.keys(Outputs);
      Outputs[name] = { ...Outputs[name], Value: Outputs[name]?.Value, Export: { Name: "x" } };
    },
    names: ["changed:Outputs.AlarmsTopicArn.Export"],
  },
];
