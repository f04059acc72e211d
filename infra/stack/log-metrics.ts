import { Duration } from "aws-cdk-lib";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type ILogGroup, type JsonPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { LogEvent } from "../../shared/log.ts";

export interface LogMetricsProps {
  /** What the metrics are grouped under; two environments in one account must not share it. */
  namespace: string;
  cancelOrderLog: ILogGroup;
  listOrdersLog: ILogGroup;
  /** The gateway's. */
  accessLog: ILogGroup;
}

/**
 * The metrics that are counted from log lines. None has a default value: a month without traffic costs nothing. The one
 * dimension is the code of a refusal, of which the catalogue has four, because a rise of one says what clients do wrong.
 */
export class LogMetrics extends Construct {
  readonly ordersCancelled: Metric;
  readonly cancelsRefused: Metric;
  readonly ordersListed: Metric;
  readonly listsCutOff: Metric;
  readonly authorizerFailures: Metric;
  /** Milliseconds until the first page was read, for each list that got so far. */
  readonly listFirstPage: Metric;
  readonly #namespace: string;

  constructor(scope: Construct, id: string, { namespace, cancelOrderLog, listOrdersLog, accessLog }: LogMetricsProps) {
    super(scope, id);
    this.#namespace = namespace;
    this.ordersCancelled = this.#count("OrdersCancelled", cancelOrderLog, logged("order_cancelled"));
    this.cancelsRefused = this.#count("CancelsRefused", cancelOrderLog, logged("cancel_refused"), {
      Code: "$.message.code",
    });
    this.ordersListed = this.#count("OrdersListed", listOrdersLog, logged("orders_listed"));
    this.listsCutOff = this.#count(
      "ListsCutOff",
      listOrdersLog,
      // A function that ran out of time or memory can't log it any more; Lambda does.
      FilterPattern.any(logged("list_cut_off"), platformReports("timeout"), platformReports("failure")),
    );
    this.authorizerFailures = this.#count(
      "AuthorizerFailures",
      accessLog,
      // What the gateway made of it, not the function's own line: a function that crashed or was throttled wrote none,
      // and its Errors metric counts every refused key too.
      FilterPattern.any(responseType("AUTHORIZER_FAILURE"), responseType("AUTHORIZER_CONFIGURATION_ERROR")),
    );
    this.listFirstPage = this.#value("ListFirstPage", listOrdersLog, "$.message.firstPageMilliseconds");
  }

  #count(name: string, logGroup: ILogGroup, filterPattern: JsonPattern, dimensions?: Record<string, string>): Metric {
    const filter = new MetricFilter(this, name, {
      logGroup,
      filterPattern,
      metricNamespace: this.#namespace,
      metricName: name,
      metricValue: "1",
      ...(dimensions && { dimensions }),
    });
    return filter.metric({ statistic: "Sum", period: Duration.minutes(5) });
  }

  #value(name: string, logGroup: ILogGroup, field: string): Metric {
    const filter = new MetricFilter(this, name, {
      logGroup,
      filterPattern: FilterPattern.numberValue(field, ">=", 0),
      metricNamespace: this.#namespace,
      metricName: name,
      metricValue: field,
    });
    return filter.metric({ statistic: "p99", period: Duration.minutes(1) });
  }
}

/** The functions' own lines, in Lambda's JSON format. */
function logged(event: LogEvent): JsonPattern {
  return FilterPattern.stringValue("$.message.event", "=", event);
}

/** Lambda's lines about an invocation that did not succeed; they come at the system log level WARN. */
function platformReports(status: "timeout" | "failure"): JsonPattern {
  return FilterPattern.all(
    FilterPattern.stringValue("$.type", "=", "platform.runtimeDone"),
    FilterPattern.stringValue("$.record.status", "=", status),
  );
}

function responseType(type: string): JsonPattern {
  return FilterPattern.stringValue("$.responseType", "=", type);
}
