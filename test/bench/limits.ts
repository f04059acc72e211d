import type { Environment } from "../../infra/environments.ts";
import { cancellation, cost, listOf, millionOrdersMonth, milliseconds } from "./prices.ts";

/** The traffic on an environment and the size of its table. */
export interface Load {
  orders: number;
  cancelsPerSecond: number;
  listsPerMinute: number;
}

/** A limit, and how much of it a load uses, in `unit`. */
export interface Limit {
  name: string;
  used: number;
  available: number;
  unit: string;
  /** Used divided by available: above 1, it is exceeded. */
  share: number;
  /** The remedy once it is reached. */
  raise: string;
}

/** AWS's defaults, with the guides that document them. Megabytes are 10^6 bytes. */
const quota = {
  /** Lambda's developer guide, "Response streaming": the size, and the rate after 6 MB. */
  streamedMegabytes: 200,
  unthrottledMegabytes: 6,
  streamedMegabytesPerSecond: 2,
  /** API Gateway's developer guide, "Stream the integration response": 15 minutes. */
  listSeconds: 900,
  /** API Gateway's developer guide, "Quotas": 10,000 a second, 2,500 in some newer regions. */
  requestsPerSecond: 10_000,
  /** Lambda's developer guide, "Lambda quotas"; new accounts may begin with fewer. */
  concurrency: 1000,
  /** DynamoDB's developer guide, "Quotas": a table on demand, for reads and for writes. */
  tableUnits: 40_000,
  /** DynamoDB's developer guide, "Partitions": a list reads one partition after the other. */
  partitionReads: 3000,
};

/**
 * The least seconds that a list takes: the longest of running the function, reading at the rate of
 * one partition, and sending it as gzip.
 */
export function listSeconds(orders: number): number {
  const list = listOf(orders);
  const running = milliseconds(list, list.memory) / 1000;
  const reading = list.readUnits / quota.partitionReads;
  const throttledMegabytes = Math.max(
    0,
    list.sentKilobytes / 1000 - quota.unthrottledMegabytes,
  );
  return Math.max(running, reading, throttledMegabytes / quota.streamedMegabytesPerSecond);
}

/** The limit at which AWS cuts off a list of so many orders; undefined when it sends all of it. */
export function cutOffAt(orders: number): "200 MB" | "15 minutes" | undefined {
  if (listOf(orders).sentKilobytes / 1000 > quota.streamedMegabytes) return "200 MB";
  return listSeconds(orders) > quota.listSeconds ? "15 minutes" : undefined;
}

function limit(
  name: string,
  used: number,
  available: number,
  unit: string,
  raise: string,
): Limit {
  return { name, used, available, unit, share: used / available, raise };
}

const endOfV1 = "nothing raises it: here v1 ends, which lists all orders in one response";
const raise = "raise it in environments.ts";
const raiseToQuota = `${raise}, up to the table's quota`;

/** Every limit under a load, the one that is reached first at the head. */
export function limitsUnder(load: Load, environment: Environment): Limit[] {
  const {
    throttling,
    tableThroughput,
    listConcurrency = Number.POSITIVE_INFINITY,
  } = environment;
  const { orders, cancelsPerSecond: cancels } = load;
  const lists = load.listsPerMinute / 60;
  const writes = cancels * cancellation.writeUnits;
  const reads = lists * listOf(orders).readUnits;
  const listsAtOnce = lists * listSeconds(orders);
  const cancelsAtOnce = (cancels * milliseconds(cancellation, cancellation.memory)) / 1000;
  const ofOneList = [
    limit(
      "a list's size, as gzip (Lambda guide, Response streaming)",
      listOf(orders).sentKilobytes / 1000,
      quota.streamedMegabytes,
      "MB",
      endOfV1,
    ),
    limit(
      "a list's time, at 2 MB a second after 6 MB (API Gateway guide, Stream the response)",
      listSeconds(orders),
      quota.listSeconds,
      "s",
      endOfV1,
    ),
  ];
  const { cancelOrder, listOrders } = throttling;
  const settings = [
    limit(
      "throttling.cancelOrder.rateLimit",
      cancels,
      cancelOrder.rateLimit,
      "a second",
      raise,
    ),
    limit(
      "throttling.listOrders.rateLimit",
      lists,
      listOrders.rateLimit,
      "a second",
      raise,
    ),
    limit(
      "tableThroughput.writes",
      writes,
      tableThroughput.writes,
      "units a second",
      raiseToQuota,
    ),
    limit(
      "tableThroughput.reads",
      reads,
      tableThroughput.reads,
      "units a second",
      `${raiseToQuota}, or list less often`,
    ),
    limit("listConcurrency", listsAtOnce, listConcurrency, "at once", raise),
  ];
  const ofAccount = [
    limit(
      "requests of the account (API Gateway guide, Quotas)",
      cancels + lists,
      quota.requestsPerSecond,
      "a second",
      "ask Service Quotas for a higher throttle quota (L-8A5B8E43)",
    ),
    limit(
      "concurrent executions of the account (Lambda guide, Quotas)",
      cancelsAtOnce + listsAtOnce,
      quota.concurrency,
      "at once",
      "ask Service Quotas for more concurrent executions (L-B99A9384)",
    ),
    limit(
      "writes of a table (DynamoDB guide, Quotas)",
      writes,
      quota.tableUnits,
      "units a second",
      "ask Service Quotas for a higher table-level write throughput",
    ),
    limit(
      "reads of a table (DynamoDB guide, Quotas)",
      reads,
      quota.tableUnits,
      "units a second",
      "ask Service Quotas for a higher table-level read throughput",
    ),
  ];
  return [...(lists > 0 ? ofOneList : []), ...settings, ...ofAccount]
    .filter(({ available }) => Number.isFinite(available))
    .sort((a, b) => b.share - a.share);
}

const secondsInMonth = 730 * 3600;

/** Dollars for a month of this load, with every key in the authorizer's cache. */
export function monthlyDollars({ orders, cancelsPerSecond, listsPerMinute }: Load): number {
  const lists = (listsPerMinute / 60) * cost(listOf(orders));
  const serving = secondsInMonth * (cancelsPerSecond * cost(cancellation) + lists);
  return serving + (orders / 1e6) * millionOrdersMonth;
}
