import type { Template } from "aws-cdk-lib/assertions";
import { cancelGrowth, listGrowth, listLimits } from "./growing.ts";
import {
  authorizerCost,
  cancellation,
  coldStarts,
  cost,
  lambdaCost,
  listOf,
  millionOrdersMonth,
  milliseconds,
  price,
} from "./prices.ts";

const works = [cancellation, listOf(100), listOf(10_000)];
const sizes = [256, 512, 1024, 1769];
const dollars = (value: number): string => `$${value.toFixed(2)}`;
const million = (value: number): string => dollars(1e6 * value);

const hoursPerMonth = 730;
/** Two small tasks and a load balancer, busy or not; tables, logs and bytes come on top. */
const containerMonth =
  hoursPerMonth * (2 * (0.25 * price.vcpuHour + 0.5 * price.memoryGigabyteHour) + price.balancerHour);

/** An alarm on an expression is charged for each metric in it. */
function alarmMonth(template: Template): number {
  const alarms = Object.values(template.findResources("AWS::CloudWatch::Alarm"));
  const metrics = alarms.map(({ Properties: { Metrics = [{ MetricStat: true }] } }): number => {
    return Metrics.filter(({ MetricStat }: { MetricStat?: unknown }) => MetricStat !== undefined).length;
  });
  return price.alarmMetric * metrics.reduce((sum, count) => sum + count, 0);
}

/** The metrics that are counted from logs. The one with a dimension has four values at most: the codes of a rejection. */
function customMetrics(template: Template): number {
  return Object.values(template.findResources("AWS::Logs::MetricFilter"))
    .flatMap(({ Properties }) => Properties.MetricTransformations as { Dimensions?: unknown }[])
    .reduce((sum, { Dimensions }) => sum + (Dimensions === undefined ? 1 : 4), 0);
}

/** The costs of the service, as tables whose first row is their head. @param template production's. */
export function costTables(
  template: Template,
): Record<"functions" | "requests" | "cancellations" | "lists" | "limits", string[][]> {
  const metrics = customMetrics(template);
  return {
    functions: [
      ["warm time and Lambda's price per million", ...sizes.map((size) => `${size} MB`)],
      ...works.map((work) => [
        work.name,
        ...sizes.map((size) => `${milliseconds(work, size).toFixed(0)} ms, ${million(lambdaCost(work, size))}`),
      ]),
    ],
    requests: [
      ["", "this service", "behind an HTTP API", "in two containers, always on"],
      ...works.map((work) => [
        `a million times ${work.name}`,
        million(cost(work)),
        million(cost(work, price.httpRequest)),
        `${million(cost(work, 0) - lambdaCost(work))} and the month`,
      ]),
      ["a million times a key that isn't cached, on top", million(authorizerCost), million(authorizerCost), "-"],
      ["a million cold starts of each function, on top", million(coldStarts), "same", "-"],
      [
        "a month of keeping a million orders, and restoring them to any second",
        dollars(millionOrdersMonth),
        "same",
        "same",
      ],
      ["an idle month, alarms and stored bytes aside", dollars(0), dollars(0), dollars(containerMonth)],
      ["a month of production's alarms", dollars(alarmMonth(template)), "same", "-"],
      [
        `a month of its ${metrics} metrics from logs, if each has data in every hour`,
        dollars(metrics * price.customMetric),
        "same",
        "-",
      ],
    ],
    cancellations: cancelGrowth([10, 100, 1000, 10_000]),
    lists: listGrowth([1e4, 1e5, 1e6, 1e7, 1e8]),
    limits: listLimits(),
  };
}
