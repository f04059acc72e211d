import { Duration } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, MathExpression, type Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Construct } from "constructs";
import type { AlarmSettings } from "../environments.ts";
import { AlarmTopic } from "./alarm-topic.ts";
import { duration, invocations, percentage, throttledTableRequests, throttles } from "./aws-metrics.ts";
import { type FunctionName, type PerFunction, perFunction } from "./function-list.ts";
import type { LogMetrics } from "./log-metrics.ts";
import type { OrdersApi } from "./orders-api.ts";
import type { ServiceFunction, ServiceFunctions } from "./service-function.ts";

export interface AlarmsProps {
  settings: AlarmSettings;
  api: OrdersApi;
  functions: ServiceFunctions;
  logMetrics: LogMetrics;
}

interface Window {
  period: Duration;
  evaluationPeriods: number;
  datapointsToAlarm?: number;
}

/** Three bad minutes out of five: one is a blip, and a canary lasts ten. */
const lasting: Window = { period: Duration.minutes(1), evaluationPeriods: 5, datapointsToAlarm: 3 };
const fiveMinutes: Window = { period: Duration.minutes(5), evaluationPeriods: 1 };

/**
 * The alarms that notify someone, and those that roll a canary back. They need no metrics beyond those that AWS emits
 * anyway and those of LogMetrics. Silence never alarms: without requests nothing fails.
 */
export class Alarms extends Construct {
  readonly #settings: AlarmSettings;
  readonly #action: SnsAction;
  readonly #shared: Alarm[];
  readonly #own: PerFunction<Alarm[]>;

  constructor(scope: Construct, id: string, { settings, api, functions, logMetrics }: AlarmsProps) {
    super(scope, id);
    const { serverErrors, rejectedKeys, slow, authorizerFailures, listsCutOff } = settings;
    const { listOrders, cancelOrder } = functions;
    const { failures } = logMetrics;
    this.#settings = settings;
    this.#action = new SnsAction(new AlarmTopic(this, "Topic", settings.email));

    const errors = percentage(serverErrors, { failed: unexpectedErrors(api, listOrders), total: api.metric("Count") });
    this.#shared = [
      this.#alarm("ServerErrors", errors, serverErrors.percent, lasting),
      this.#alarm("CancelSlow", duration(cancelOrder), slow.cancel, lasting),
      this.#alarm("ListSlow", logMetrics.listFirstPage, slow.listFirstPage, lasting),
      this.#alarm("AuthorizerFailures", logMetrics.authorizerFailures, authorizerFailures),
      this.#alarm("ListsCutOff", logMetrics.listsCutOff, listsCutOff),
    ];
    this.#own = perFunction((name) => this.#alarmsOf(functions[name], failures[name]));
    // It notifies, but rolls back no canary: anyone can make up well-formed keys, and could so block every deployment.
    const rejected = percentage(rejectedKeys, { failed: logMetrics.keysRejected, total: api.metric("Count") });
    this.#alarm("KeysRejected", rejected, rejectedKeys.percent);
  }

  /** The alarms that roll back a new version of this function. CodeDeploy accepts at most ten. */
  rollingBack(name: FunctionName): Alarm[] {
    return [...this.#shared, ...this.#own[name]];
  }

  #alarmsOf(lambda: ServiceFunction, failures: Metric): Alarm[] {
    const { functionFailures, functionThrottles, tableThrottles } = this.#settings;
    const { id } = lambda.node;
    const failing = percentage(functionFailures, { failed: failures, total: invocations(lambda) });
    const alarms = [
      this.#alarm(`${id}Failing`, failing, functionFailures.percent),
      this.#alarm(`${id}TableThrottled`, throttledTableRequests(lambda), tableThrottles),
    ];
    if (lambda.concurrencyLimit === undefined) {
      alarms.push(this.#alarm(`${id}Throttled`, throttles(lambda), functionThrottles));
    }
    return alarms;
  }

  #alarm(id: string, metric: Metric | MathExpression, threshold: number, window = fiveMinutes): Alarm {
    const { period, ...evaluation } = window;
    const alarm = new Alarm(this, id, {
      alarmDescription: `What it means and what to do: infra/README.md, "When an alarm goes off", ${id}`,
      metric: metric.with({ period }),
      threshold,
      ...evaluation,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(this.#action);
    return alarm;
  }
}

/** 5xx responses, without the 500s that the list's concurrency limit causes on purpose. */
function unexpectedErrors(api: OrdersApi, listOrders: ServiceFunction): Metric | MathExpression {
  const responses = api.metric("5XXError");
  if (listOrders.concurrencyLimit === undefined) return responses;
  return new MathExpression({
    expression: "responses - FILL(turnedAway, 0)",
    usingMetrics: { responses, turnedAway: throttles(listOrders) },
  });
}
