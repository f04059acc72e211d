import { authorization, authorizerCost, cancellation, cost, listOf, milliseconds, orderBytes } from "./prices.ts";

/** AWS's quotas as an account begins, each with where AWS says so. */
const quota = {
  /** Requests a second for all APIs of an account and region (API Gateway quotas). */
  gatewayRequests: 10_000,
  /** Executions at once of a new account, until AWS raises it (Lambda quotas, note on new accounts). */
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

/** Assumptions: how many keys are in use at once, and for how many seconds the gateway remembers each. */
const keys = 1000;
const rememberedSeconds = 60;

const number = (value: number): string => Math.ceil(value).toLocaleString("en");
const dollars = (value: number): string => `$${value < 0.01 ? value.toPrecision(1) : value.toFixed(2)}`;

/** The needs and the cost of this many cancellations a second. */
export function cancelGrowth(rates: number[]): string[][] {
  return [
    ["cancellations a second", "concurrency", "write units a second", "ask AWS first for more", "cost per hour"],
    ...rates.map((rate) => {
      const authorizations = Math.min(rate, keys / rememberedSeconds);
      const concurrency =
        (rate * milliseconds(cancellation, cancellation.memory) +
          authorizations * milliseconds(authorization, authorization.memory)) /
        1000;
      const writes = rate * cancellation.writeUnits;
      const hourly = 3600 * (rate * cost(cancellation) + authorizations * authorizerCost);
      const raises = [
        ...(concurrency > quota.newConcurrency ? ["a new account's Lambda concurrency"] : []),
        ...(rate >= quota.gatewayRequests ? ["the account's gateway requests a second"] : []),
        ...(writes > quota.firstWrites ? ["the table's warm throughput"] : []),
      ];
      return [number(rate), number(concurrency), number(writes), raises.join("; ") || "nothing", dollars(hourly)];
    }),
  ];
}

/** The needs and the cost of listing tables of these sizes once a minute. */
export function listGrowth(sizes: number[]): string[][] {
  const heads = ["orders, listed once a minute", "read units a list", "a list takes", "lists at once", "sent as gzip"];
  return [
    [...heads, "cost per hour"],
    ...sizes.map((orders) => {
      const work = listOf(orders);
      const bytes = work.sentKilobytes * 1000;
      // It waits for its function, for a partition's read units, or for Lambda to stream its bytes.
      const seconds = Math.max(
        milliseconds(work, work.memory) / 1000,
        work.readUnits / quota.partitionReads,
        (bytes - quota.unhurriedBytes) / quota.streamedBytes,
      );
      const possible = seconds <= quota.execution && bytes <= quota.responseBytes;
      const sent = `${(bytes / 1e6).toFixed(1)} MB`;
      const needs = possible ? [`${seconds.toFixed(1)} s`, number(seconds / 60), sent] : ["cut off", "-", sent];
      const hourly = possible ? dollars(60 * cost(work)) : "-";
      return [orders.toLocaleString("en"), number(work.readUnits), ...needs, hourly];
    }),
  ];
}

/** From which size of the table on this many lists a second take this many read units a second. */
export function readUnitsLastUntil(lists: number, reads: number): string {
  const bytes = (reads / lists) * 8192;
  return `${(bytes / 1e6).toFixed(1)} MB, ${number(bytes / orderBytes.stored)} orders`;
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
