import { environments } from "../../infra/environments.ts";
import { authorization, authorizerCost, cancellation, cost, listOf, milliseconds, orderBytes } from "./prices.ts";

/** AWS's quotas as an account begins, each with where AWS says so. */
const quota = {
  /** Requests a second for all APIs of an account and region (API Gateway quotas). */
  gatewayRequests: 10_000,
  /** Executions at once (Lambda quotas). */
  concurrency: 1000,
  /** ... of a new account, until AWS raises it (Lambda quotas, note on new accounts). */
  newConcurrency: 10,
  /** Write units a second of an on-demand table (DynamoDB quotas). */
  tableWrites: 40_000,
  /** A new on-demand table serves this many at once, and doubles its past peak within 30 minutes (on-demand mode). */
  firstWrites: 4000,
  /** Of one partition, a second (DynamoDB, partition design). */
  partitionReads: 3000,
  partitionWrites: 1000,
  /** Bytes of one streamed response, how many of them go out at once, and the rest a second (Lambda response streaming). */
  responseBytes: 200e6,
  unhurriedBytes: 6e6,
  streamedBytes: 2e6,
  /** Seconds (Lambda quotas). */
  execution: 900,
};

/** How many keys are in use at once, an assumption: each is asked for once per cache time. */
const keys = 1000;
const { throttling, tableThroughput, authorizerCacheSeconds } = environments.production;
const number = (value: number): string => Math.ceil(value).toLocaleString("en");
const dollars = (value: number): string => `$${value < 0.01 ? value.toPrecision(1) : value.toFixed(2)}`;

/** The needs and the cost of this many cancellations a second, beginning with production's settings. */
export function cancelGrowth(rates: number[]): string[][] {
  return [
    ["cancellations a second", "concurrency", "write units a second", "raise, in this order", "cost per hour"],
    ...rates.map((rate) => {
      const authorizations = Math.min(rate, keys / authorizerCacheSeconds);
      const concurrency =
        (rate * milliseconds(cancellation, cancellation.memory) +
          authorizations * milliseconds(authorization, authorization.memory)) /
        1000;
      const writes = rate * cancellation.writeUnits;
      const hourly = 3600 * (rate * cost(cancellation) + authorizations * authorizerCost);
      const raises = [
        ...(concurrency > quota.newConcurrency ? ["AWS: a new account's Lambda concurrency"] : []),
        ...(rate >= quota.gatewayRequests ? ["AWS: the account's gateway requests a second"] : []),
        ...(writes > quota.firstWrites ? ["the table's warm throughput, before the load"] : []),
        ...(writes > tableThroughput.writes ? ["ours: `tableThroughput.writes`"] : []),
        ...(rate > throttling.cancelOrder.rateLimit ? ["ours: `throttling.cancelOrder`"] : []),
      ];
      return [number(rate), number(concurrency), number(writes), raises.join("; ") || "nothing", dollars(hourly)];
    }),
  ];
}

/** The needs and the cost of listing tables of these sizes once a minute. */
export function listGrowth(sizes: number[]): string[][] {
  return [
    [
      "orders, listed once a minute",
      "read units a list",
      "a list takes",
      "lists at once",
      "sent as gzip",
      "raise",
      "cost per hour",
    ],
    ...sizes.map((orders) => {
      const { readUnits, seconds, bytes } = listTakes(orders);
      const possible = seconds <= quota.execution && bytes <= quota.responseBytes;
      return [
        orders.toLocaleString("en"),
        number(readUnits),
        possible ? `${seconds.toFixed(1)} s` : "cut off",
        possible ? number(seconds / 60) : "-",
        `${(bytes / 1e6).toFixed(1)} MB`,
        possible ? "nothing" : "this design ends",
        possible ? dollars(60 * cost(listOf(orders))) : "-",
      ];
    }),
  ];
}

/** From which size of the table on the lists that each environment lets in can take all of its read units. */
export function listLimits(): string[][] {
  return [
    ["", "lists a second", "read units a second", "lists alone exhaust them from"],
    ...Object.values(environments).map(({ name, throttling: { listOrders }, tableThroughput: { reads } }) => {
      const bytes = (reads / listOrders.rateLimit) * 8192;
      const size = `${(bytes / 1e6).toFixed(1)} MB, ${number(bytes / orderBytes.stored)} orders`;
      return [name, number(listOrders.rateLimit), number(reads), size];
    }),
  ];
}

/** A list waits for its function, for the table's read units, or for Lambda to stream its bytes, whichever is slowest. */
function listTakes(orders: number): { readUnits: number; seconds: number; bytes: number } {
  const work = listOf(orders);
  const bytes = work.sentKilobytes * 1000;
  const seconds = Math.max(
    milliseconds(work, work.memory) / 1000,
    work.readUnits / Math.min(tableThroughput.reads, quota.partitionReads),
    Math.max(0, bytes - quota.unhurriedBytes) / quota.streamedBytes,
  );
  return { readUnits: work.readUnits, seconds, bytes };
}

/** Where this design ends, whatever is raised. */
export function ends(): string {
  const millions = (bytes: number): string => `${(quota.responseBytes / bytes / 1e6).toFixed(1)} million orders`;
  return [
    `A list ends at 200 MB: ${millions(orderBytes.gzip)} as gzip, ${millions(orderBytes.plain)} plain.`,
    `One order takes ${number(quota.partitionWrites)} writes a second, the limit of a partition; ids are spread over partitions by hash.`,
    `A table takes ${number(quota.tableWrites)} writes a second until AWS raises that quota.`,
  ].join("\n");
}
