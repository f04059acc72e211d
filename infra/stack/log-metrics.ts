import { Stats } from "aws-cdk-lib/aws-cloudwatch";
import {
  FilterPattern,
  type ILogGroup,
  type JsonPattern,
  MetricFilter,
  type MetricFilterProps,
} from "aws-cdk-lib/aws-logs";
import type { Stack } from "aws-cdk-lib/core";
import { Construct } from "constructs";
import type { LogEvent } from "../../shared/log.ts";
import { type Operation, perFunction } from "./function-list.ts";
import type { OrdersApi } from "./orders-api.ts";
import type { ServiceFunctions } from "./service-function.ts";

/** The parts of an environment that the alarms and the dashboard watch. */
export interface Watched {
  api: OrdersApi;
  functions: ServiceFunctions;
  logMetrics: ReturnType<typeof addLogMetrics>;
}

/**
 * Makes the metrics that are counted from log lines. None has a default value, so a month without
 * traffic costs nothing. The only dimension is the code of a rejected cancellation, one of four: a
 * rise in one says what clients do wrong.
 *
 * @param metricNamespace CloudWatch's name for the group of metrics. Two environments in one account
 * must not share it.
 */
export function addLogMetrics(
  stack: Stack,
  metricNamespace: string,
  { accessLog }: OrdersApi,
  functions: ServiceFunctions,
) {
  const scope = new Construct(stack, "LogMetrics");
  /** Makes a metric of the log's lines that match: how many, unless `options` differ. */
  const count = (
    metricName: string,
    logGroup: ILogGroup,
    filterPattern: JsonPattern,
    options: Partial<MetricFilterProps> = {},
  ) => {
    const props = { logGroup, filterPattern, metricNamespace, metricName, ...options };
    return new MetricFilter(scope, metricName, props).metric({ statistic: Stats.SUM });
  };
  const listLog = functions.listOrders.logGroup;
  const cancelLog = functions.cancelOrder.logGroup;
  const milliseconds = "$.message.firstPageMilliseconds";
  return {
    ordersCancelled: count("OrdersCancelled", cancelLog, logged("order_cancelled")),
    cancelsRejected: count("CancelsRejected", cancelLog, logged("cancel_rejected"), {
      dimensions: { Code: "$.message.code" },
    }),
    ordersListed: count("OrdersListed", listLog, logged("orders_listed")),
    listsCutOff: count("ListsCutOff", listLog, failed("list_cut_off")),
    byFunction: perFunction((name, { id, failures, operation }) => ({
      /** A list that is cut off and takes the runtime down with it counts twice. */
      failures: count(`${id}Failed`, functions[name].logGroup, failed(...failures)),
      /** 5xx responses that the function caused, also with a response that the gateway can't use. */
      serverErrors: count(
        `${id}ServerErrors`,
        accessLog,
        operation
          ? FilterPattern.all(...admittedTo(operation), equal("status", "5*"))
          : equal("responseType", "AUTHORIZER_*"),
      ),
      /** All responses to requests that the gateway let in. An authorizer has none of its own. */
      responses:
        operation &&
        count(`${id}Responses`, accessLog, FilterPattern.all(...admittedTo(operation))),
    })),
    /** Well-formed keys that are unknown, expired or revoked. */
    keysRejected: count(
      "KeysRejected",
      functions.authorize.logGroup,
      // The runtime's own line: Lambda's Errors metric would count failures too.
      equal("message.errorMessage", "Unauthorized"),
    ),
    requestsThrottled: count("RequestsThrottled", accessLog, equal("status", "429")),
    /** Until the first page was read, the 99th percentile of the lists that got that far. */
    listFirstPage: count(
      "ListFirstPage",
      listLog,
      FilterPattern.numberValue(milliseconds, ">=", 0),
      { metricValue: milliseconds },
    ).with({ statistic: Stats.p(99) }),
  };
}

/** Matches the functions' own lines about an event, in Lambda's JSON format. */
function logged(event: LogEvent) {
  return equal("message.event", event);
}

/** Matches lines about these failures of a function, and those that only Lambda can report. */
function failed(...events: LogEvent[]) {
  return FilterPattern.any(...events.map(logged), ...crashed);
}

/**
 * Match Lambda's own report of an invocation that timed out, crashed or ran out of memory, its
 * start included: the function can't log that. An exception of the handler does not count: the
 * authorizer throws one for each rejected key. Each invocation has one report; at the system log
 * level WARN, only failed ones do.
 */
const crashed = [
  [equal("record.status", "timeout")],
  [equal("record.status", "failure")],
  [equal("record.status", "error"), equal("record.errorType", "Runtime.*")],
].map((conditions) => FilterPattern.all(equal("type", "platform.report"), ...conditions));

/**
 * Matches the access log's lines about requests that the gateway admitted to an operation. It logs
 * an authorizer's failure under the operation, too: those are left out.
 */
function admittedTo({ method, path }: Operation) {
  return [
    equal("method", method),
    equal("resource", path),
    ...["AUTHORIZER_*", "THROTTLED", "UNAUTHORIZED"].map((type) =>
      FilterPattern.stringValue("$.responseType", "!=", type),
    ),
  ];
}

/** Matches lines whose field at the path has this text; a `*` stands for the rest of one. */
function equal(path: string, text: string) {
  return FilterPattern.stringValue(`$.${path}`, "=", text);
}
