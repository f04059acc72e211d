import { type Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type ILogGroup, type JsonPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { LogEvent } from "../../shared/log.ts";
import { type FunctionEntry, type Operation, type PerFunction, perFunction } from "./function-list.ts";
import type { ServiceFunctions } from "./service-function.ts";

export interface LogMetricsProps {
  /** CloudWatch's name for the group of metrics. Two environments in one account must not share it. */
  namespace: string;
  functions: ServiceFunctions;
  /** The gateway's access log. */
  accessLog: ILogGroup;
}

/**
 * The metrics that are counted from log lines. None has a default value, so a month without traffic costs nothing. The
 * only dimension is the code of a rejected cancellation, one of four: a rise in one says what clients do wrong.
 */
export class LogMetrics extends Construct {
  readonly ordersCancelled: Metric;
  readonly cancelsRejected: Metric;
  readonly ordersListed: Metric;
  readonly listsCutOff: Metric;
  /** Well-formed keys that are unknown, expired or revoked. */
  readonly keysRejected: Metric;
  /** Failed invocations. A list that is cut off and takes the runtime down with it counts twice. */
  readonly failures: PerFunction<Metric>;
  /** 5xx responses because of a function, as the gateway sees it: responses of the function that it can't use, too. */
  readonly serverErrors: PerFunction<Metric>;
  /** All responses to requests that the gateway let in. An authorizer has none of its own. */
  readonly responses: PerFunction<Metric | undefined>;
  /** Milliseconds until the first page was read, for each list that got that far. */
  readonly listFirstPage: Metric;
  readonly #namespace: string;

  constructor(scope: Construct, id: string, { namespace, functions, accessLog }: LogMetricsProps) {
    super(scope, id);
    const listLog = functions.listOrders.logGroup;
    const cancelLog = functions.cancelOrder.logGroup;
    const authorizeLog = functions.authorize.logGroup;
    this.#namespace = namespace;
    this.ordersCancelled = this.#count("OrdersCancelled", cancelLog, logged("order_cancelled"));
    this.cancelsRejected = this.#count("CancelsRejected", cancelLog, logged("cancel_rejected"), {
      Code: "$.message.code",
    });
    this.ordersListed = this.#count("OrdersListed", listLog, logged("orders_listed"));
    this.listsCutOff = this.#count("ListsCutOff", listLog, FilterPattern.any(logged("list_cut_off"), ...crashed));
    this.failures = perFunction((name, { id, failures }) =>
      this.#count(`${id}Failed`, functions[name].logGroup, FilterPattern.any(...failures.map(logged), ...crashed)),
    );
    // The runtime's own line: Lambda's Errors metric would count failures too.
    this.keysRejected = this.#count(
      "KeysRejected",
      authorizeLog,
      FilterPattern.stringValue("$.message.errorMessage", "=", "Unauthorized"),
    );
    this.serverErrors = perFunction((_, { id, operation }: FunctionEntry) =>
      this.#count(
        `${id}ServerErrors`,
        accessLog,
        operation
          ? FilterPattern.all(...letIn(operation), accessed("status", "=", "5*"))
          : accessed("responseType", "=", "AUTHORIZER_*"),
      ),
    );
    this.responses = perFunction((_, { id, operation }: FunctionEntry) =>
      operation ? this.#count(`${id}Responses`, accessLog, FilterPattern.all(...letIn(operation))) : undefined,
    );
    this.listFirstPage = this.#value("ListFirstPage", listLog, "$.message.firstPageMilliseconds");
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
    return filter.metric({ statistic: Stats.SUM });
  }

  #value(name: string, logGroup: ILogGroup, field: string): Metric {
    const filter = new MetricFilter(this, name, {
      logGroup,
      filterPattern: FilterPattern.numberValue(field, ">=", 0),
      metricNamespace: this.#namespace,
      metricName: name,
      metricValue: field,
    });
    return filter.metric({ statistic: Stats.p(99) });
  }
}

/** The functions' own lines, in Lambda's JSON format. */
function logged(event: LogEvent): JsonPattern {
  return FilterPattern.stringValue("$.message.event", "=", event);
}

/**
 * Lambda's own line about an invocation that timed out, crashed or ran out of memory, its start included: the function
 * can't log that. An exception that a handler throws is not a crash; the authorizer throws one for each rejected key.
 */
const crashed = [
  platformReport(FilterPattern.stringValue("$.record.status", "=", "timeout")),
  platformReport(FilterPattern.stringValue("$.record.status", "=", "failure")),
  platformReport(
    FilterPattern.stringValue("$.record.status", "=", "error"),
    FilterPattern.stringValue("$.record.errorType", "=", "Runtime.*"),
  ),
];

/** There is one such line per invocation; those of failed ones come at the system log level WARN. */
function platformReport(...conditions: JsonPattern[]): JsonPattern {
  return FilterPattern.all(FilterPattern.stringValue("$.type", "=", "platform.report"), ...conditions);
}

/** The access log's lines about an operation. A failure of the authorizer is logged as the operation's, but isn't its. */
function letIn({ method, path }: Operation): JsonPattern[] {
  return [
    accessed("method", "=", method),
    accessed("resource", "=", path),
    ...["AUTHORIZER_*", "THROTTLED", "UNAUTHORIZED"].map((type) => accessed("responseType", "!=", type)),
  ];
}

function accessed(field: "method" | "resource" | "responseType" | "status", comparison: "=" | "!=", value: string) {
  return FilterPattern.stringValue(`$.${field}`, comparison, value);
}
