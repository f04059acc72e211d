import {
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Stats,
} from "aws-cdk-lib/aws-cloudwatch";
import { Duration, type Stack } from "aws-cdk-lib/core";
import { Construct } from "constructs";
import type { FunctionName } from "./function-list.ts";
import type { Watched } from "./log-metrics.ts";

/**
 * One page on how the service is doing. A dashboard costs $3 a month; an account's first three are
 * free.
 */
export function addDashboard(
  stack: Stack,
  dashboardName: string,
  { api, functions, logMetrics }: Watched,
) {
  const lambdas = Object.values(functions);
  const { cancelsRejected, keysRejected } = logMetrics;
  const slowest = (name: FunctionName, label: string) =>
    functions[name].alias.metricDuration({ statistic: Stats.p(99), label });
  new Dashboard(new Construct(stack, "Dashboard"), "Dashboard", {
    dashboardName,
    widgets: [
      [
        graph("Requests", (["Count", "4XXError", "5XXError"] as const).map(api.metric)),
        graph("Outcomes", [
          logMetrics.ordersListed,
          logMetrics.ordersCancelled,
          logMetrics.listsCutOff,
        ]),
        graph("Rejected, by code", [
          search(
            `{${cancelsRejected.namespace},Code} MetricName="${cancelsRejected.metricName}"`,
            "Sum",
          ),
          keysRejected,
        ]),
      ],
      [
        graph("Slowest 1 %, ms", [
          slowest("cancelOrder", "cancel"),
          logMetrics.listFirstPage.with({ label: "list, first page" }),
          slowest("authorize", "authorize"),
        ]),
        graph(
          "Throttled",
          lambdas.flatMap(({ entry, alias, throttledTableRequests }) => [
            alias.lambda.metricThrottles({ label: entry.id }),
            throttledTableRequests.with({ label: `${entry.id}'s table` }),
          ]),
        ),
      ],
      // A line for each version that the alias sends requests to: during a canary, the old and the
      // new one side by side.
      ...["Invocations", "Errors", "Duration"].map((metric) =>
        lambdas.map(({ entry, alias }) => {
          const schema = "{AWS/Lambda,ExecutedVersion,FunctionName,Resource}";
          const query = `${schema} MetricName="${metric}" FunctionName="${alias.lambda.functionName}"`;
          const statistic = metric === "Duration" ? "p99" : "Sum";
          return graph(`${entry.id} by version: ${metric}`, [search(query, statistic)]);
        }),
      ),
    ],
  });
}

function graph(title: string, left: IMetric[]) {
  return new GraphWidget({ title, left, period: Duration.minutes(1), width: 8 });
}

function search(query: string, statistic: string) {
  return new MathExpression({
    expression: `SEARCH('${query}', '${statistic}', 60)`,
    usingMetrics: {},
    label: "",
  });
}
