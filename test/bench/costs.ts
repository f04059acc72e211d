// `npm run costs`: what the service costs, and which limit is reached first.
import { type Environment, environments } from "../../infra/environments.ts";
import { functionList } from "../../infra/stack/function-list.ts";
import { Script } from "../../infra/tools/terminal/script.ts";
import { templateOf } from "../helpers/synthesise.ts";
import {
  isCutOff,
  type Load,
  limitsUnder,
  listSeconds,
  monthlyDollars,
  quota,
} from "./limits.ts";
import { lengths, orderBytes } from "./orders.ts";
import { markdown, writeTables } from "./page.ts";
import {
  authorization,
  cancellation,
  cost,
  listOf,
  milliseconds,
  order,
  orderMonth,
  price,
  rejectedCost,
  sources,
} from "./prices.ts";

const { write, ...load } = new Script("npm run costs --")
  .description(
    "Prints what the service costs, from AWS's list prices. " +
      "With cancellations or lists, prints which limit is reached first.",
  )
  .option(
    "--write",
    "put the tables that don't depend on settings into test/bench/README.md",
  )
  .option("--orders <number>", "orders in the table", Number, 1e6)
  .option("--cancels-per-second <number>", "cancellations that clients send", Number, 0)
  .option("--lists-per-minute <number>", "lists that clients ask for", Number, 0)
  .option("--keys <number>", "API keys in use", Number, 10)
  .option(
    "--concurrency <number>",
    "the account's quota of concurrent executions, which is lower in new accounts " +
      "(aws lambda get-account-settings)",
    Number,
    1000,
  )
  .parse()
  .opts<Load & { write?: true }>();

/** How long a tuned function like ours starts (speedrun.nobackspacecrew.com, 2025-07-21). */
const initSeconds = 0.375;

const gigabytes = sumOf(functionList, ({ memorySize }) => memorySize / 1024);

/** The initialisations, which Lambda bills, and a Scan, a GetItem and an UpdateItem. */
const coldStarts =
  initSeconds * gigabytes * price.gigabyteSecond + 1.5 * price.readUnit + price.writeUnit;

const works = [cancellation, listOf(100), listOf(10_000), authorization];

const costsTable = [
  ["", "estimated, each", "dollars"],
  ...works.map((work) => [
    `a million ${work.name}`,
    `${milliseconds(work).toFixed(0)} ms`,
    dollars(1e6 * cost(work)),
  ]),
  [
    "a million cold starts of each function, on top",
    `${1000 * initSeconds} ms`,
    dollars(1e6 * coldStarts),
  ],
  [
    "a million requests without a key, for their log lines",
    "",
    dollars(1e6 * rejectedCost),
  ],
  [
    "a day of them at the account's 10,000 a second",
    "",
    dollars(86_400 * quota.requests * rejectedCost),
  ],
  [
    "a month of a million orders, which can be restored to any second",
    "",
    dollars(1e6 * orderMonth),
  ],
];

const lengthsTable = [
  [
    "an order, in bytes",
    "stored, once cancelled",
    "in a list",
    "in a gzip list",
    "longest list",
    "longest gzip list",
  ],
  ...Object.entries(lengths).map(([length, description]) => {
    const { stored, plain, gzip } = orderBytes(length as keyof typeof lengths);
    const most = (bytes: number) => `${amount(quota.streamedMegabytes / bytes)} million`;
    return [description, ...[stored, plain, gzip].map(amount), most(plain), most(gzip)];
  }),
];

const ordersTable = [
  [
    "orders, all else estimated",
    "stored",
    "a gzip list",
    "takes at least",
    "read units",
    "costs",
    "a month stored",
  ],
  ...[1e5, 1e6, 1e7].map(ordersRow),
];

const pricesTable = [
  ["price", "dollars", "from"],
  ...Object.entries(price).map(([name, value]) => [
    name,
    value < 0.001 ? `${Number((1e6 * value).toPrecision(6))} a million` : String(value),
    sources[name as keyof typeof price] ?? "unverified",
  ]),
];

const environmentsTable = [
  [
    "",
    "lists alone take all read units from",
    "a month of alarms",
    "a month of metrics in use all the time",
    "a day at the limits of all tables",
  ],
  ...Object.values(environments).map(environmentRow),
];

if (load.cancelsPerSecond > 0 || load.listsPerMinute > 0)
  Object.values(environments).forEach(printLoad);
else {
  const tables = [costsTable, lengthsTable, ordersTable];
  for (const table of [...tables, pricesTable]) console.log(`${markdown(table)}\n`);
  console.log("With the settings in infra/environments.ts:\n");
  console.log(markdown(environmentsTable));
  if (write) writeTables(tables);
}

function printLoad(environment: Environment) {
  const rows = limitsUnder(load, environment).map(
    ({ name, used, available, unit, share, remedy }) => [
      name,
      `${amount(used)} of ${amount(available)} ${unit}`,
      `${amount(100 * share)} %`,
      remedy,
    ],
  );
  console.log(
    `With the settings of ${environment.name}, the first limit to be reached at the head:\n`,
  );
  console.log(`${markdown([["limit", "used", "", "beyond it"], ...rows])}\n`);
  console.log(`A month: $${amount(monthlyDollars(load, environment))}, alarms aside.\n`);
}

function amount(value: number) {
  if (value >= 10) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(2)));
}

function dollars(value: number) {
  return `$${value.toFixed(2)}`;
}

function sumOf<Value>(values: Record<string, Value>, measure: (value: Value) => number) {
  return Object.values(values).reduce((sum, value) => sum + measure(value), 0);
}

function ordersRow(orders: number) {
  const list = listOf(orders);
  return [
    orders.toLocaleString("en"),
    `${amount((orders * order.stored) / 1e6)} MB`,
    `${amount(list.sentKilobytes / 1000)} MB`,
    `${amount(listSeconds(orders))} s`,
    amount(list.readUnits),
    isCutOff(orders) ? "cut off at 200 MB" : `$${cost(list).toPrecision(2)}`,
    dollars(orders * orderMonth),
  ];
}

function environmentRow(environment: Environment) {
  const { tableThroughput, throttling } = environment;
  // A read unit is 8 KB of a list.
  const exhaustingBytes =
    (tableThroughput.reads / throttling.listOrders.rateLimit) * 8192;
  const exhaustingOrders = Math.ceil(exhaustingBytes / order.stored);
  const template = templateOf(environment);
  const resources = (type: string) => template.findResources(`AWS::${type}`);
  const alarmMetrics = sumOf(
    resources("CloudWatch::Alarm"),
    // Each metric in an alarm's expression is charged.
    ({ Properties: { Metrics } }) =>
      Metrics?.filter(({ MetricStat }: { MetricStat?: unknown }) => MetricStat).length ??
      1,
  );
  const customMetrics = sumOf(
    resources("Logs::MetricFilter"),
    // A dimension is the code of a rejection, of which there are four: each makes a metric.
    ({
      Properties: {
        MetricTransformations: [{ Dimensions }],
      },
    }) => (Dimensions ? 4 : 1),
  );
  /** Dollars for a second in which every table serves all the units that it may. */
  const limits = sumOf(
    resources("DynamoDB::Table"),
    ({
      Properties: {
        OnDemandThroughput: { MaxReadRequestUnits, MaxWriteRequestUnits },
      },
    }) => MaxReadRequestUnits * price.readUnit + MaxWriteRequestUnits * price.writeUnit,
  );
  return [
    environment.name,
    `${(exhaustingBytes / 1e6).toFixed(1)} MB, ${exhaustingOrders.toLocaleString("en")} orders`,
    dollars(price.alarmMetric * alarmMetrics),
    dollars(price.customMetric * customMetrics),
    dollars(86_400 * limits),
  ];
}
