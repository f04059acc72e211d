import { Aws, Duration } from "aws-cdk-lib";
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import type { AlarmSettings } from "../environments.ts";
import type { LogMetrics } from "./log-metrics.ts";
import type { OrdersApi } from "./orders-api.ts";
import type { ServiceFunction } from "./service-function.ts";

export interface AlarmsProps {
  settings: AlarmSettings;
  api: OrdersApi;
  cancelOrder: ServiceFunction;
  functions: ServiceFunction[];
  logMetrics: LogMetrics;
}

const minute = Duration.minutes(1);
const fiveMinutes = Duration.minutes(5);
/** Three bad minutes of five: one is a blip, and a canary lasts ten. */
const lasting = { evaluationPeriods: 5, datapointsToAlarm: 3 };

/**
 * What wakes somebody. Every metric is one that AWS emits by itself or that LogMetrics counts: the gateway's metrics
 * per method would be ten custom metrics more. Silence is no alarm: nobody calling is not trouble.
 */
export class Alarms extends Construct {
  readonly #action: SnsAction;
  readonly #aboutAll: Alarm[];
  readonly #aboutOne = new Map<ServiceFunction, Alarm[]>();

  constructor(scope: Construct, id: string, { settings, api, cancelOrder, functions, logMetrics }: AlarmsProps) {
    super(scope, id);
    const { serverErrors, slow, authorizerFailures, listsCutOff, functionThrottles, tableThrottles } = settings;
    this.#action = new SnsAction(this.#topic(settings.email));
    this.#aboutAll = [
      this.#alarm("ServerErrors", failedPercent(api, serverErrors.atLeast), {
        ...lasting,
        threshold: serverErrors.percent,
      }),
      this.#alarm("CancelSlow", duration(cancelOrder), { ...lasting, threshold: slow.cancel }),
      this.#alarm("ListSlow", logMetrics.listFirstPage, { ...lasting, threshold: slow.listFirstPage }),
      this.#alarm("AuthorizerFailures", logMetrics.authorizerFailures, { threshold: authorizerFailures }),
      this.#alarm("ListsCutOff", logMetrics.listsCutOff, { threshold: listsCutOff }),
    ];
    for (const lambda of functions) {
      this.#aboutOne.set(lambda, [
        this.#alarm(`${lambda.node.id}Throttled`, throttles(lambda), { threshold: functionThrottles }),
        this.#alarm(`${lambda.node.id}TableThrottled`, tableThrottledRequests(lambda), { threshold: tableThrottles }),
      ]);
    }
  }

  /** The alarms that tell of trouble with this function: at most the ten that CodeDeploy looks at. */
  about(lambda: ServiceFunction): Alarm[] {
    return [...this.#aboutAll, ...(this.#aboutOne.get(lambda) ?? [])];
  }

  #alarm(
    id: string,
    metric: IMetric,
    limit: { threshold: number; evaluationPeriods?: number; datapointsToAlarm?: number },
  ): Alarm {
    const alarm = new Alarm(this, id, {
      alarmDescription: `What it means and what to do: README.md, "When an alarm goes off", ${id}`,
      metric,
      evaluationPeriods: 1,
      ...limit,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(this.#action);
    return alarm;
  }

  /** Not encrypted with a key of ours: that would bill while idle, and an alarm's text is no secret. */
  #topic(email: string | undefined): Topic {
    const topic = new Topic(this, "Topic", { enforceSSL: true });
    // A topic with a policy of its own loses the default one, by which CloudWatch might publish.
    topic.grantPublish(
      new ServicePrincipal("cloudwatch.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } },
      }),
    );
    if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
    return topic;
  }
}

/** 5xx answers of a minute in percent, or 0 when they are too few to mean anything. */
function failedPercent(api: OrdersApi, atLeast: number): IMetric {
  return new MathExpression({
    expression: `IF(failed >= ${atLeast}, 100 * failed / requests, 0)`,
    usingMetrics: { failed: api.metric("5XXError"), requests: api.metric("Count") },
    period: minute,
    label: "5xx answers in percent",
  });
}

/** Of the alias, so that both versions count during a canary, and an operator's trial call does not. */
function duration({ functionName, alias: { aliasName } }: ServiceFunction): IMetric {
  return new Metric({
    namespace: "AWS/Lambda",
    metricName: "Duration",
    dimensionsMap: { FunctionName: functionName, Resource: `${functionName}:${aliasName}` },
    statistic: "p99",
    period: minute,
  });
}

function throttles({ functionName }: ServiceFunction): IMetric {
  return new Metric({
    namespace: "AWS/Lambda",
    metricName: "Throttles",
    dimensionsMap: { FunctionName: functionName },
    statistic: "Sum",
    period: fiveMinutes,
  });
}

/** Of the one operation that the function does: DynamoDB counts throttled requests by table and operation only. */
function tableThrottledRequests({ permission: { action, table } }: ServiceFunction): IMetric {
  return new Metric({
    namespace: "AWS/DynamoDB",
    metricName: "ThrottledRequests",
    dimensionsMap: { TableName: table.tableName, Operation: action.replace("dynamodb:", "") },
    statistic: "Sum",
    period: fiveMinutes,
  });
}
