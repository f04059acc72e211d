import type { Environment } from "../../infra/environments.ts";
import {
  authorization,
  cancellation,
  cost,
  listOf,
  milliseconds,
  orderMonth,
} from "./prices.ts";

export interface Load {
  orders: number;
  cancelsPerSecond: number;
  listsPerMinute: number;
  /** API keys in use. */
  keys: number;
  /** The account's quota of concurrent executions. */
  concurrency: number;
}

/** AWS's defaults. Megabytes are 10^6 bytes. */
export const quota = {
  /** API Gateway's developer guide, "Quotas": requests of the account a second. */
  requests: 10_000,
  /** Lambda's developer guide, "Response streaming": the size, and the rate after 6 MB. */
  streamedMegabytes: 200,
  unthrottledMegabytes: 6,
  streamedMegabytesPerSecond: 2,
  /** DynamoDB's developer guide, "Partitions": a list reads one partition after the other. */
  partitionReads: 3000,
  /** The same, "On-demand capacity mode": what a new table serves a second. */
  newTable: { reads: 12_000, writes: 4000 },
};

/** The longest of running the function, reading from one partition, and sending gzip. */
export function listSeconds(orders: number) {
  const list = listOf(orders);
  const running = milliseconds(list) / 1000;
  const reading = list.readUnits / quota.partitionReads;
  const throttledMegabytes = list.sentKilobytes / 1000 - quota.unthrottledMegabytes;
  return Math.max(
    running,
    reading,
    throttledMegabytes / quota.streamedMegabytesPerSecond,
  );
}

/** Whether a list exceeds 200 MB, which it does long before it takes 15 minutes. */
export function isCutOff(orders: number) {
  return listOf(orders).sentKilobytes / 1000 > quota.streamedMegabytes;
}

/** Calls of the authorizer a second: one for each key and cache period. */
function authorizations(load: Load, { authorizerCacheSeconds }: Environment) {
  const requests = load.cancelsPerSecond + load.listsPerMinute / 60;
  return Math.min(requests, load.keys / authorizerCacheSeconds);
}

const raise = "raise it in environments.ts";
const raiseToQuota = `${raise}, up to the table's quota of 40,000 (DynamoDB guide, Quotas)`;

function limit(
  name: string,
  used: number,
  available: number,
  unit: string,
  remedy: string,
) {
  return { name, used, available, unit, share: used / available, remedy };
}

/** Every limit under a load, the first to be reached at the head. */
export function limitsUnder(load: Load, environment: Environment) {
  const { throttling, tableThroughput, listConcurrency } = environment;
  const { cancelsPerSecond: cancels } = load;
  const lists = load.listsPerMinute / 60;
  // A table that nobody lists may be of any size.
  const orders = lists > 0 ? load.orders : 0;
  const listsAtOnce = lists * listSeconds(orders);
  const authorized = authorizations(load, environment);
  const shortAtOnce =
    (cancels * milliseconds(cancellation) + authorized * milliseconds(authorization)) /
    1000;
  const { cancelOrder, listOrders } = throttling;
  const perSecond = "a second";
  const units = "units a second";
  const atOnce = "at once";
  const writes = cancels * cancellation.writeUnits;
  const reads = lists * listOf(orders).readUnits;
  const listLess = `${raiseToQuota}, or list less often`;
  const warmUp =
    "raise the table's warm throughput, or let the load double every 30 minutes at most";
  const moreConcurrency =
    "ask Service Quotas for more concurrent executions (L-B99A9384)";
  const limits = [
    limit(
      "a list's size, as gzip (Lambda guide, Response streaming)",
      listOf(orders).sentKilobytes / 1000,
      quota.streamedMegabytes,
      "MB",
      "nothing raises it: here v1 ends, which lists all orders in one response",
    ),
    limit(
      "throttling.cancelOrder.rateLimit",
      cancels,
      cancelOrder.rateLimit,
      perSecond,
      raise,
    ),
    limit(
      "throttling.listOrders.rateLimit",
      lists,
      listOrders.rateLimit,
      perSecond,
      raise,
    ),
    limit("tableThroughput.writes", writes, tableThroughput.writes, units, raiseToQuota),
    limit("tableThroughput.reads", reads, tableThroughput.reads, units, listLess),
    limit(
      "writes of a new table (DynamoDB guide, On-demand capacity mode)",
      writes,
      quota.newTable.writes,
      units,
      warmUp,
    ),
    limit(
      "reads of a new table (DynamoDB guide, On-demand capacity mode)",
      reads,
      quota.newTable.reads,
      units,
      warmUp,
    ),
    limit(
      "requests of the account (API Gateway guide, Quotas)",
      cancels + lists,
      quota.requests,
      perSecond,
      "ask Service Quotas for a higher throttle quota (L-8A5B8E43)",
    ),
    limit(
      "concurrent executions of the account (Lambda guide, Quotas)",
      shortAtOnce + listsAtOnce,
      load.concurrency,
      atOnce,
      moreConcurrency,
    ),
    limit(
      "invocations, ten a second for each concurrent execution (Lambda guide, Quotas)",
      cancels + lists + authorized,
      10 * load.concurrency,
      perSecond,
      moreConcurrency,
    ),
  ];
  if (listConcurrency !== undefined)
    limits.push(limit("listConcurrency", listsAtOnce, listConcurrency, atOnce, raise));
  return limits.sort((a, b) => b.share - a.share);
}

const secondsInMonth = 730 * 3600;

/** Dollars for a month of this load. */
export function monthlyDollars(load: Load, environment: Environment) {
  const lists = (load.listsPerMinute / 60) * cost(listOf(load.orders));
  const cancels = load.cancelsPerSecond * cost(cancellation);
  const asking = authorizations(load, environment) * cost(authorization);
  return secondsInMonth * (cancels + lists + asking) + load.orders * orderMonth;
}
