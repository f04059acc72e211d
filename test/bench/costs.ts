// Prints what the service costs, how the functions' memory sizes were chosen, and what it takes to grow, and draws the
// cost of an hour: all of it computed from prices.ts, growing.ts and the production template.
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { environments } from "../../infra/environments.ts";
import { OrdersStack } from "../../infra/stack/orders-stack.ts";
import { costChart, writeChart } from "./charts.ts";
import { cancelGrowth, ends, listGrowth, listLimits } from "./growing.ts";
import { markdown } from "./markdown.ts";
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

const cancellations = cancelGrowth([10, 100, 1000, 10_000]);
const lists = listGrowth([1e4, 1e5, 1e6, 1e7, 1e8]);
const works = [cancellation, listOf(100), listOf(10_000)];
const sizes = [256, 512, 1024, 1769];
const dollars = (value: number): string => `$${value.toFixed(2)}`;
const million = (value: number): string => dollars(1e6 * value);

const hoursPerMonth = 730;
/** Two small tasks and a load balancer, busy or not; tables, logs and bytes come on top. */
const containerMonth =
  hoursPerMonth * (2 * (0.25 * price.vcpuHour + 0.5 * price.memoryGigabyteHour) + price.balancerHour);

const app = new App({ context: { "aws:cdk:bundling-stacks": [] } });
const template = Template.fromStack(new OrdersStack(app, environments.production.stackName, environments.production));

/** An alarm on an expression is charged for each metric in it. */
function alarmMonth(): number {
  const alarms = Object.values(template.findResources("AWS::CloudWatch::Alarm"));
  const metrics = alarms.map(({ Properties: { Metrics = [{ MetricStat: true }] } }): number => {
    return Metrics.filter(({ MetricStat }: { MetricStat?: unknown }) => MetricStat !== undefined).length;
  });
  return price.alarmMetric * metrics.reduce((sum, count) => sum + count, 0);
}

/** The metrics that are counted from logs. The one with a dimension has four values at most: the codes of a rejection. */
const customMetrics = Object.values(template.findResources("AWS::Logs::MetricFilter"))
  .flatMap(({ Properties }) => Properties.MetricTransformations as { Dimensions?: unknown }[])
  .reduce((sum, { Dimensions }) => sum + (Dimensions === undefined ? 1 : 4), 0);

console.log(
  markdown([
    ["warm time and Lambda's price per million", ...sizes.map((size) => `${size} MB`)],
    ...works.map((work) => [
      work.name,
      ...sizes.map((size) => `${milliseconds(work, size).toFixed(0)} ms, ${million(lambdaCost(work, size))}`),
    ]),
  ]),
);
console.log();
console.log(
  markdown([
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
    ["a month of production's alarms", dollars(alarmMonth()), "same", "-"],
    [
      `a month of its ${customMetrics} metrics from logs, if each has data in every hour`,
      dollars(customMetrics * price.customMetric),
      "same",
      "-",
    ],
  ]),
);
console.log();
console.log(markdown(cancellations));
console.log();
console.log(markdown(lists));
console.log();
console.log(markdown(listLimits()));
console.log();
console.log(ends());
writeChart("cost", costChart(cancellations, lists));
