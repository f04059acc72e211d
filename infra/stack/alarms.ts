import {
  Alarm,
  type IMetric,
  MathExpression,
  Stats,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Aws, CfnOutput, Duration, type Stack } from "aws-cdk-lib/core";
import { Construct } from "constructs";
import { perFunction } from "./function-list.ts";
import type { Watched } from "./log-metrics.ts";
import type { AlarmSettings } from "./settings.ts";

/** Three bad minutes out of five: one is a blip, and a canary lasts ten. */
const lasting = { evaluationPeriods: 5, datapointsToAlarm: 3 };
const period = Duration.minutes(1);

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
) {
  const { functionFailures, rejectedKeys, slow } = settings;
  const scope = new Construct(stack, "Alarms");
  const topic = addTopic(scope, settings);
  const action = new SnsAction(topic);
  new CfnOutput(stack, "AlarmsTopicArn", { value: topic.topicArn });
  /** Makes an alarm for one bad period, five minutes long unless the metric has another. */
  const alarm = (
    id: string,
    metric: IMetric,
    threshold: number,
    evaluation: Partial<typeof lasting> = {},
  ) => {
    const made = new Alarm(scope, id, {
      alarmDescription: `What it means and what to do: ${runbook}, ${id}`,
      metric,
      threshold,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...evaluation,
    });
    made.addAlarmAction(action);
    made.addOkAction(action);
    return made;
  };
  /**
   * Makes an alarm on failures as a percentage of a total, which is 0 while they are too few to mean
   * anything. Without data for the total, each failure is 100 %.
   */
  const shareAlarm = (
    id: string,
    { atLeast, percent }: AlarmSettings["rejectedKeys"],
    failed: IMetric,
    total: IMetric,
  ) => {
    const expression = `IF(failed >= ${atLeast}, 100 * failed / FILL(total, 1), 0)`;
    const usingMetrics = { failed, total };
    const share = new MathExpression({ expression, usingMetrics, label: "percent" });
    return alarm(id, share, percent);
  };

  const rollingBack = perFunction((name, { id }) => {
    const { alias, throttledTableRequests } = functions[name];
    const { failures, responses, serverErrors } = logMetrics.byFunction[name];
    // Through the alias: both versions during a canary, but not an operator's trial of the
    // function.
    const invoked = alias.metricInvocations();
    const turnedAway = alias.lambda.metricThrottles();
    // These two are not returned, so they only notify: heavy listing or an import can trigger them.
    alarm(`${id}TableThrottled`, throttledTableRequests, settings.tableThrottles);
    alarm(`${id}Throttled`, turnedAway, settings.functionThrottles);
    // Requests that Lambda turned away don't count: other functions took all the concurrency.
    const errors = new MathExpression({
      expression: "failures - FILL(turnedAway, 0)",
      usingMetrics: { failures: serverErrors, turnedAway },
    });
    return [
      shareAlarm(`${id}Failing`, functionFailures, failures, invoked),
      shareAlarm(`${id}ServerErrors`, functionFailures, errors, responses ?? invoked),
    ];
  });
  const { alias } = functions.cancelOrder;
  const cancels = alias.metricDuration({ statistic: Stats.p(99), period });
  rollingBack.cancelOrder.push(alarm("CancelSlow", cancels, slow.cancel, lasting));
  const firstPage = logMetrics.listFirstPage.with({ period });
  rollingBack.listOrders.push(
    alarm("ListSlow", firstPage, slow.listFirstPage, lasting),
    alarm("ListsCutOff", logMetrics.listsCutOff, settings.listsCutOff),
  );

  // The API-wide alarms only notify, too: guessed keys or heavy listing can trigger them.
  const requests = api.metric("Count");
  shareAlarm("KeysRejected", rejectedKeys, logMetrics.keysRejected, requests);
  alarm("RequestsThrottled", logMetrics.requestsThrottled, settings.requestsThrottled);
  // The gateway's own count: another stack can replace the role of the log that the others are
  // counted from.
  shareAlarm("ApiServerErrors", functionFailures, api.metric("5XXError"), requests);
  return { topic, rollingBack };
}

/**
 * Makes the topic that the alarms notify, or takes the given one. The stack's own isn't encrypted
 * with a key: that costs money while idle, and the text of an alarm isn't secret.
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
