// Prints what the service costs and how the functions' memory sizes were chosen, then what follows
// from each environment's settings.
import { Template } from "aws-cdk-lib/assertions";
import { App } from "aws-cdk-lib/core";
import { Command } from "commander";
import { type Environment, environments } from "../../infra/environments.ts";
import { type FunctionName, functionList } from "../../infra/stack/function-list.ts";
import { OrdersStack } from "../../infra/stack/orders-stack.ts";
import { markdown, writeTables } from "./page.ts";

const { write } = new Command("npm run costs --")
  .description("Prints what the service costs, from AWS's list prices.")
  .option("--write", "put the tables that don't depend on settings into test/bench/README.md")
  .parse()
  .opts<{ write?: true }>();

/**
 * AWS's prices in dollars: us-east-1, without free tier, collected on 2026-11-20 from the services'
 * price pages.
 */
const price = {
  restRequest: 3.5e-6,
  httpRequest: 1e-6,
  lambdaRequest: 0.2e-6,
  /** arm64. */
  gigabyteSecond: 0.0000133334,
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  logGigabyte: 0.5,
  sentGigabyte: 0.09,
  /**
   * A gigabyte of a streamed response, beyond its first 6 MB (Lambda pricing, "HTTP response
   * streaming").
   */
  streamedGigabyte: 0.008,
  /**
   * A gigabyte stored for a month, and the same for point-in-time recovery (DynamoDB pricing,
   * on-demand).
   */
  storedGigabyte: 0.25,
  recoverableGigabyte: 0.2,
  /** A month of one metric that an alarm watches. */
  alarmMetric: 0.1,
  /**
   * A month of one metric made by a metric filter, by the hours in which it has data (CloudWatch
   * pricing, custom metrics).
   */
  customMetric: 0.3,
};

/** The resources that one request takes, the functions' share of them apart. */
interface Work {
  name: string;
  /** Megabytes of the function that does it. */
  memory: number;
  /**
   * Milliseconds of one whole vCPU: a long list as the bench measures it and half as much again,
   * the others estimates.
   */
  cpuMs: number;
  /** Milliseconds of waiting for DynamoDB, an assumption: 5 for a small call, 10 for a page. */
  waitMs: number;
  writeUnits: number;
  readUnits: number;
  sentKilobytes: number;
}

/**
 * A stored order, what DynamoDB adds to it on the bill for storage (developer guide, "item sizes"),
 * and the order on the wire as gzip. Bytes; the wire's are the bench's, rounded up.
 */
const orderBytes = { stored: 250, index: 100, gzip: 13 };

/** Half a read unit for each 4 KB, eventually consistent; a page is 1 MB. */
function listOf(orders: number): Work {
  const stored = orders * orderBytes.stored;
  return {
    name: `a list of ${orders.toLocaleString("en")} orders`,
    memory: 1024,
    cpuMs: 3 + orders * 0.006,
    waitMs: 10 * Math.ceil(stored / 1_048_576),
    writeUnits: 0,
    readUnits: Math.max(0.5, stored / 8192),
    sentKilobytes: 0.5 + (orders * orderBytes.gzip) / 1000,
  };
}

const cancellation: Work = {
  name: "a cancellation",
  memory: 512,
  cpuMs: 2,
  waitMs: 5,
  writeUnits: 1,
  readUnits: 0,
  sentKilobytes: 0.3,
};

/** Asked once per key and cache time: a consistent read of one small item. */
const authorization: Work = {
  name: "an authorization",
  memory: 512,
  cpuMs: 2,
  waitMs: 5,
  writeUnits: 0,
  readUnits: 1,
  sentKilobytes: 0,
};

const logKilobytes = 0.8;
/** Lambda gives a whole vCPU at 1,769 MB and shares in proportion. */
const wholeCpuMegabytes = 1769;

function milliseconds({ cpuMs, waitMs }: Work, megabytes: number): number {
  return waitMs + cpuMs / Math.min(1, megabytes / wholeCpuMegabytes);
}

/** Dollars that Lambda takes for one. */
function lambdaCost(work: Work, megabytes = work.memory): number {
  return (
    price.lambdaRequest +
    (milliseconds(work, megabytes) / 1000) * (megabytes / 1024) * price.gigabyteSecond
  );
}

/**
 * Dollars for one whose key is in the authorizer's cache, behind a gateway that charges this for a
 * request, and for each further 10 MB that it streams.
 */
function cost(work: Work, request = price.restRequest): number {
  const tables = work.writeUnits * price.writeUnit + work.readUnits * price.readUnit;
  const bytes =
    (work.sentKilobytes / 1e6) * price.sentGigabyte + (logKilobytes / 1e6) * price.logGigabyte;
  const streamed = (Math.max(0, work.sentKilobytes - 6000) / 1e6) * price.streamedGigabyte;
  return (
    request * Math.ceil(work.sentKilobytes / 10_000) + lambdaCost(work) + tables + bytes + streamed
  );
}

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

/** Dollars for keeping a million orders for a month, with their changes of the last 35 days. */
const millionOrdersMonth =
  (1e6 / 1e9) *
  ((orderBytes.stored + orderBytes.index) * price.storedGigabyte +
    orderBytes.stored * price.recoverableGigabyte);

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
];
for (const table of tables) console.log(`${markdown(table)}\n`);
console.log("With the settings in infra/environments.ts:\n");
const heads = [
  "lists alone take all read units from",
  "a month of alarms",
  "a month of metrics in use all the time",
];
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
