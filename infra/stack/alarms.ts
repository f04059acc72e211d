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
  readonly #action: SnsAction;
  readonly #rollingBack: PerFunction<Alarm[]>;

  constructor(scope: Construct, id: string, { settings, api, functions, logMetrics }: AlarmsProps) {
    super(scope, id);
    const { email, functionFailures, functionThrottles, listsCutOff, rejectedKeys, slow, tableThrottles } = settings;
    const { failures, keysRejected, responses, serverErrors } = logMetrics;
    this.#action = new SnsAction(new AlarmTopic(this, "Topic", email));
    const share = (failed: Metric | MathExpression, total: Metric) => percentage(functionFailures, { failed, total });

    this.#rollingBack = perFunction((name, entry) => {
      const invoked = invocations(functions[name]);
      const failing = share(failures[name], invoked);
      const erring = share(withoutTurnedAway(serverErrors[name], functions[name]), responses[name] ?? invoked);
      return [
        this.#alarm(`${entry.id}Failing`, failing, functionFailures.percent),
        this.#alarm(`${entry.id}ServerErrors`, erring, functionFailures.percent),
      ];
    });
    this.#rollingBack.cancelOrder.push(
      this.#alarm("CancelSlow", duration(functions.cancelOrder), slow.cancel, lasting),
    );
    this.#rollingBack.listOrders.push(
      this.#alarm("ListSlow", logMetrics.listFirstPage, slow.listFirstPage, lasting),
      this.#alarm("ListsCutOff", logMetrics.listsCutOff, listsCutOff),
    );

    // The others notify, but roll nothing back: whoever makes up keys, lists much or imports orders can raise them.
    const rejected = percentage(rejectedKeys, { failed: keysRejected, total: api.metric("Count") });
    this.#alarm("KeysRejected", rejected, rejectedKeys.percent);
    for (const lambda of Object.values(functions)) {
      this.#alarm(`${lambda.node.id}TableThrottled`, throttledTableRequests(lambda), tableThrottles);
      if (lambda.concurrencyLimit !== undefined) continue;
      this.#alarm(`${lambda.node.id}Throttled`, throttles(lambda), functionThrottles);
    }
  }

  /** The alarms that roll back a new version of this function, each about its own work. CodeDeploy accepts at most ten. */
  rollingBack(name: FunctionName): Alarm[] {
    return this.#rollingBack[name];
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

/** Without the failures that Lambda caused by turning invocations away, because others took all the concurrency. */
function withoutTurnedAway(failed: Metric, lambda: ServiceFunction): MathExpression {
  return new MathExpression({
    expression: "failures - FILL(turnedAway, 0)",
    usingMetrics: { failures: failed, turnedAway: throttles(lambda) },
  });
}
