import {
  Alarm,
  MathExpression,
  type Metric,
  Stats,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Aws, CfnOutput, Duration, type Stack } from "aws-cdk-lib/core";
import { Construct } from "constructs";
import { type PerFunction, perFunction } from "./function-list.ts";
import type { Watched } from "./log-metrics.ts";
import type { AlarmSettings, FailureShare } from "./settings.ts";

/** Three bad minutes out of five: one is a blip, and a canary lasts ten. */
const lasting = { period: Duration.minutes(1), evaluationPeriods: 5, datapointsToAlarm: 3 };
const fiveMinutes = { period: Duration.minutes(5), evaluationPeriods: 1 };

const runbook = 'infra/ON-CALL.md, "When an alarm goes off"';

/**
 * Makes the alarms. They need no metrics beyond those that AWS emits anyway and those in
 * log-metrics.ts. Without data none goes off: without requests nothing fails.
 *
 * @returns the topic that they notify, and those that roll back a new version of each function: at
 * most ten, which CodeDeploy accepts, and only about its own work.
 */
export function addAlarms(
  stack: Stack,
  settings: AlarmSettings,
  { api, functions, logMetrics }: Watched,
): { topic: ITopic; rollingBack: PerFunction<Alarm[]> } {
  const {
    functionFailures,
    functionThrottles,
    listsCutOff,
    rejectedKeys,
    slow,
    tableThrottles,
  } = settings;
  const { failures, keysRejected, requestsThrottled, responses, serverErrors } = logMetrics;
  const scope = new Construct(stack, "Alarms");
  const topic = addTopic(scope, settings);
  new CfnOutput(stack, "AlarmsTopicArn", { value: topic.topicArn });
  const alarm = (
    id: string,
    metric: Metric | MathExpression,
    threshold: number,
    window = fiveMinutes,
  ): Alarm => {
    const { period, ...evaluation } = window;
    const made = new Alarm(scope, id, {
      alarmDescription: `What it means and what to do: ${runbook}, ${id}`,
      metric: metric.with({ period }),
      threshold,
      ...evaluation,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    made.addAlarmAction(new SnsAction(topic));
    made.addOkAction(new SnsAction(topic));
    return made;
  };

  const rollingBack = perFunction((name, entry) => {
    // Through the alias: both versions during a canary, but not an operator's trial of the
    // function.
    const { live } = functions[name];
    const invoked = live.metricInvocations();
    const failing = percentage(functionFailures, failures[name], invoked);
    // Not those of requests that Lambda turned away because other functions took all the
    // concurrency.
    const errors = new MathExpression({
      expression: "failures - FILL(turnedAway, 0)",
      usingMetrics: {
        failures: serverErrors[name],
        turnedAway: live.lambda.metricThrottles(),
      },
    });
    const erring = percentage(functionFailures, errors, responses[name] ?? invoked);
    return [
      alarm(`${entry.id}Failing`, failing, functionFailures.percent),
      alarm(`${entry.id}ServerErrors`, erring, functionFailures.percent),
    ];
  });
  const cancelDuration = functions.cancelOrder.live.metricDuration({
    statistic: Stats.p(99),
  });
  rollingBack.cancelOrder.push(alarm("CancelSlow", cancelDuration, slow.cancel, lasting));
  rollingBack.listOrders.push(
    alarm("ListSlow", logMetrics.listFirstPage, slow.listFirstPage, lasting),
    alarm("ListsCutOff", logMetrics.listsCutOff, listsCutOff),
  );

  // The others only notify: anyone who invents keys, lists a lot or imports orders can set them off.
  const rejected = percentage(rejectedKeys, keysRejected, api.metric("Count"));
  alarm("KeysRejected", rejected, rejectedKeys.percent);
  alarm("RequestsThrottled", requestsThrottled, settings.requestsThrottled);
  // The gateway's own count: another stack can replace the role of the log that the others are counted from.
  const failing = percentage(functionFailures, api.metric("5XXError"), api.metric("Count"));
  alarm("ApiServerErrors", failing, functionFailures.percent);
  for (const { entry, live, throttledTableRequests } of Object.values(functions)) {
    alarm(`${entry.id}TableThrottled`, throttledTableRequests, tableThrottles);
    alarm(`${entry.id}Throttled`, live.lambda.metricThrottles(), functionThrottles);
  }
  return { topic, rollingBack };
}

/**
 * Not encrypted with a key of ours: that costs money while idle, and the text of an alarm isn't
 * secret.
 */
function addTopic(scope: Construct, { email, topicArn }: AlarmSettings): ITopic {
  const topic = topicArn
    ? Topic.fromTopicArn(scope, "Topic", topicArn)
    : new Topic(scope, "Topic", { enforceSSL: true });
  // A topic with its own policy loses the default one, which lets CloudWatch publish.
  const conditions = { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } };
  topic.grantPublish(new ServicePrincipal("cloudwatch.amazonaws.com", { conditions }));
  if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
  return topic;
}

/**
 * Failures as a percentage of a total, or 0 while they are too few to mean anything. Without data
 * for the total, each failure is 100 %.
 */
function percentage(
  { atLeast }: FailureShare,
  failed: Metric | MathExpression,
  total: Metric,
): MathExpression {
  return new MathExpression({
    expression: `IF(failed >= ${atLeast}, 100 * failed / FILL(total, 1), 0)`,
    usingMetrics: { failed, total },
    label: "percent",
  });
}
