// Prints what the service costs and how the functions' memory sizes were chosen, computed from prices.ts; then what
// follows from each environment's settings.
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Command } from "commander";
import { type Environment, environments } from "../../infra/environments.ts";
import { OrdersStack } from "../../infra/stack/orders-stack.ts";
import { markdown, writeTables } from "./page.ts";
import {
  authorizerCost,
  cancellation,
  coldStarts,
  cost,
  lambdaCost,
  listOf,
  millionOrdersMonth,
  milliseconds,
  orderBytes,
  price,
} from "./prices.ts";

const { write } = new Command("npm run costs --")
  .description("Prints what the service costs, from AWS's list prices.")
  .option("--write", "put the tables that don't depend on settings into test/bench/README.md")
  .parse()
  .opts<{ write?: true }>();

const works = [cancellation, listOf(100), listOf(10_000)];
const sizes = [256, 512, 1024, 1769];
const dollars = (value: number): string => `$${value.toFixed(2)}`;
const million = (value: number): string => dollars(1e6 * value);

const tables = [
  [
    ["warm time and Lambda's price per million", ...sizes.map((size) => `${size} MB`)],
    ...works.map((work) => [
      work.name,
      ...sizes.map((size) => `${milliseconds(work, size).toFixed(0)} ms, ${million(lambdaCost(work, size))}`),
    ]),
  ],
  [
    ["", "this service", "behind an HTTP API"],
    ...works.map((work) => [
      `a million times ${work.name}`,
      million(cost(work)),
      million(cost(work, price.httpRequest)),
    ]),
    ["a million times a key that isn't cached, on top", million(authorizerCost), million(authorizerCost)],
    ["a million cold starts of each function, on top", million(coldStarts), "same"],
    ["a month of keeping a million orders, and restoring them to any second", dollars(millionOrdersMonth), "same"],
    ["an idle month, alarms and stored bytes aside", dollars(0), dollars(0)],
  ],
];
for (const table of tables) console.log(`${markdown(table)}\n`);
console.log("With the settings in infra/environments.ts:\n");
const heads = ["lists alone take all read units from", "a month of alarms", "a month of metrics in use all the time"];
console.log(markdown([["", ...heads], ...Object.values(environments).map(ofEnvironment)]));
if (write) writeTables(tables);

function ofEnvironment(environment: Environment): string[] {
  const { name, stackName, tableThroughput, throttling } = environment;
  const app = new App({ context: { "aws:cdk:bundling-stacks": [] } });
  // A read unit is 8 KB of a list.
  const exhausting = (tableThroughput.reads / throttling.listOrders.rateLimit) * 8192;
  const template = Template.fromStack(new OrdersStack(app, stackName, environment));
  return [
    name,
    `${(exhausting / 1e6).toFixed(1)} MB, ${Math.ceil(exhausting / orderBytes.stored).toLocaleString("en")} orders`,
    dollars(price.alarmMetric * alarmMetrics(template)),
    dollars(price.customMetric * customMetrics(template)),
  ];
}

/** An alarm on an expression is charged for each metric in it. */
function alarmMetrics(template: Template): number {
  return Object.values(template.findResources("AWS::CloudWatch::Alarm"))
    .flatMap(({ Properties: { Metrics = [{ MetricStat: true }] } }): { MetricStat?: unknown }[] => Metrics)
    .filter(({ MetricStat }) => MetricStat !== undefined).length;
}

/** The metrics that are counted from logs. The one with a dimension has four values at most: the codes of a rejection. */
function customMetrics(template: Template): number {
  return Object.values(template.findResources("AWS::Logs::MetricFilter"))
    .flatMap(({ Properties }) => Properties.MetricTransformations as { Dimensions?: unknown }[])
    .reduce((sum, { Dimensions }) => sum + (Dimensions === undefined ? 1 : 4), 0);
}
