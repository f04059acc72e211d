// Prints what the service costs, how far it goes and how the functions' memory sizes were chosen,
// then what follows from each environment's settings; or what gives first under a load.
import { Template } from "aws-cdk-lib/assertions";
import { App } from "aws-cdk-lib/core";
import { Command, InvalidArgumentError } from "commander";
import { type Environment, environments } from "../../infra/environments.ts";
import { type FunctionName, functionList } from "../../infra/stack/function-list.ts";
import { OrdersStack } from "../../infra/stack/orders-stack.ts";
import {
  cutOffAt,
  type Limit,
  type Load,
  limitsUnder,
  listDollars,
  listSeconds,
  monthlyDollars,
  share,
} from "./limits.ts";
import { markdown, writeTables } from "./page.ts";
import {
  authorization,
  cancellation,
  cost,
  lambdaCost,
  listOf,
  millionOrdersMonth,
  milliseconds,
  orderBytes,
  price,
} from "./prices.ts";

const { write, ...load } = new Command("npm run costs --")
  .description("Prints what the service costs, from AWS's list prices.")
  .option("--write", "put the tables that don't depend on settings into test/bench/README.md")
  .option("--orders <number>", "says what gives first with so many orders", parseAmount, 1e6)
  .option("--cancels-per-second <number>", "and so many cancellations", parseAmount, 0)
  .option("--lists-per-minute <number>", "and so many lists", parseAmount, 0)
  .parse()
  .opts<Load & { write?: true }>();

/** Dollars for the call that makes a function ready. */
const firstCall: Record<(typeof functionList)[FunctionName]["permission"]["action"], number> = {
  "dynamodb:GetItem": price.readUnit,
  "dynamodb:Scan": 0.5 * price.readUnit,
  "dynamodb:UpdateItem": price.writeUnit,
};

/**
 * Dollars for starting each function once: the initialisation, which Lambda bills since August
 * 2025, for as long as a tuned function of this size takes (speedrun.nobackspacecrew.com,
 * 2025-07-21), and the call that makes it ready.
 */
const coldStarts = Object.values(functionList).reduce(
  (sum, { memorySize, permission: { action } }) => {
    return sum + 0.375 * (memorySize / 1024) * price.gigabyteSecond + firstCall[action];
  },
  0,
);

/** Dollars for asking the authorizer once; the gateway charges nothing for that. */
const authorizerCost = cost(authorization, 0);

const works = [cancellation, listOf(100), listOf(10_000)];
const sizes = [256, 512, 1024, 1769];
const dollars = (value: number): string => `$${value.toFixed(2)}`;
const million = (value: number): string => dollars(1e6 * value);

const tables = [
  [
    ["warm time and Lambda's price per million", ...sizes.map((size) => `${size} MB`)],
    ...works.map((work) => [
      work.name,
      ...sizes.map(
        (size) => `${milliseconds(work, size).toFixed(0)} ms, ${million(lambdaCost(work, size))}`,
      ),
    ]),
  ],
  [
    ["", "this service", "behind an HTTP API"],
    ...works.map((work) => [
      `a million times ${work.name}`,
      million(cost(work)),
      million(cost(work, price.httpRequest)),
    ]),
    [
      "a million times a key that isn't cached, on top",
      million(authorizerCost),
      million(authorizerCost),
    ],
    ["a million cold starts of each function, on top", million(coldStarts), "same"],
    [
      "a month of keeping a million orders, and restoring them to any second",
      dollars(millionOrdersMonth),
      "same",
    ],
    ["an idle month, alarms and stored bytes aside", dollars(0), dollars(0)],
  ],
  [
    [
      "orders",
      "stored",
      "a list as gzip",
      "takes at least",
      "read units",
      "costs",
      "a month stored",
    ],
    ...[1e3, 1e4, 1e5, 1e6, 1e7, 1e8].map(listRow),
  ],
];
if (load.cancelsPerSecond > 0 || load.listsPerMinute > 0)
  for (const environment of Object.values(environments)) printLoad(environment);
else printCosts();

function printCosts(): void {
  for (const table of tables) console.log(`${markdown(table)}\n`);
  console.log("With the settings in infra/environments.ts:\n");
  const heads = [
    "lists alone take all read units from",
    "a month of alarms",
    "a month of metrics in use all the time",
  ];
  console.log(markdown([["", ...heads], ...Object.values(environments).map(ofEnvironment)]));
  if (write) writeTables(tables);
}

/** Prints what the load takes of each limit, which one gives first, and the price of a month. */
function printLoad(environment: Environment): void {
  const limits = limitsUnder(load, environment);
  const [first] = limits;
  const rows = limits.map((limit) => [limit.name, ofLimit(limit), percent(limit), limit.raise]);
  console.log(`With the settings of ${environment.name}:\n`);
  console.log(`${markdown([["limit", "used", "", "beyond it"], ...rows])}\n`);
  if (first === undefined) return;
  const gives = share(first) > 1 ? "gives first" : "would give first";
  console.log(`${first.name} ${gives}, with ${percent(first)} of it used: ${first.raise}.`);
  console.log(`A month: $${amount(monthlyDollars(load))}, authorizations and alarms aside.\n`);
}

function ofLimit({ used, available, unit }: Limit): string {
  return `${amount(used)} of ${amount(available)} ${unit}`;
}

function percent(limit: Limit): string {
  return `${amount(100 * share(limit))} %`;
}

function amount(value: number): string {
  if (value >= 10) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(2)));
}

/** A row for a table of so many orders: what a list of them takes, and whether it comes whole. */
function listRow(orders: number): string[] {
  const list = listOf(orders);
  const cutOff = cutOffAt(orders);
  return [
    orders.toLocaleString("en"),
    `${amount((orders * orderBytes.stored) / 1e6)} MB`,
    `${amount(list.sentKilobytes / 1000)} MB`,
    `${amount(listSeconds(orders))} s`,
    amount(list.readUnits),
    cutOff === undefined ? `$${listDollars(orders).toPrecision(2)}` : `cut off at ${cutOff}`,
    dollars((orders / 1e6) * millionOrdersMonth),
  ];
}

/** @throws InvalidArgumentError unless it is a number from 0. */
function parseAmount(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError("Not a number from 0.");
  return Number(text);
}

function ofEnvironment(environment: Environment): string[] {
  const { name, stackName, tableThroughput, throttling } = environment;
  const app = new App({ context: { "aws:cdk:bundling-stacks": [] } });
  // A read unit is 8 KB of a list.
  const exhausting = (tableThroughput.reads / throttling.listOrders.rateLimit) * 8192;
  const orders = Math.ceil(exhausting / orderBytes.stored);
  const template = Template.fromStack(new OrdersStack(app, stackName, environment));
  return [
    name,
    `${(exhausting / 1e6).toFixed(1)} MB, ${orders.toLocaleString("en")} orders`,
    dollars(price.alarmMetric * alarmMetrics(template)),
    dollars(price.customMetric * customMetrics(template)),
  ];
}

/** An alarm on an expression is charged for each metric in it. */
function alarmMetrics(template: Template): number {
  return Object.values(template.findResources("AWS::CloudWatch::Alarm"))
    .flatMap(
      ({ Properties: { Metrics = [{ MetricStat: true }] } }): { MetricStat?: unknown }[] => Metrics,
    )
    .filter(({ MetricStat }) => MetricStat !== undefined).length;
}

/**
 * The metrics that are counted from logs. The one with a dimension has four values at most: the
 * codes of a rejection.
 */
function customMetrics(template: Template): number {
  return Object.values(template.findResources("AWS::Logs::MetricFilter"))
    .flatMap(({ Properties }) => Properties.MetricTransformations as { Dimensions?: unknown }[])
    .reduce((sum, { Dimensions }) => sum + (Dimensions === undefined ? 1 : 4), 0);
}
