import type { Environment } from "../../infra/environments.ts";
import {
  cancellation,
  cost,
  listOf,
  millionOrdersMonth,
  milliseconds,
} from "./prices.ts";

export interface Load {
  orders: number;
  cancelsPerSecond: number;
  listsPerMinute: number;
}

/** AWS's defaults. Megabytes are 10^6 bytes. */
const quota = {
  /** Lambda's developer guide, "Response streaming": the size, and the rate after 6 MB. */
  streamedMegabytes: 200,
  unthrottledMegabytes: 6,
  streamedMegabytesPerSecond: 2,
  /** API Gateway's developer guide, "Stream the integration response": 15 minutes. */
  listSeconds: 900,
  /** DynamoDB's developer guide, "Partitions": a list reads one partition after the other. */
  partitionReads: 3000,
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

const endOfV1 = "nothing raises it: here v1 ends, which lists all orders in one response";
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

/** Every limit under a load, the first to give at the head. */
export function limitsUnder(load: Load, environment: Environment) {
  const { throttling, tableThroughput, listConcurrency } = environment;
  const { cancelsPerSecond: cancels } = load;
  const lists = load.listsPerMinute / 60;
  // A table that nobody lists may be of any size.
  const orders = lists > 0 ? load.orders : 0;
  const listsAtOnce = lists * listSeconds(orders);
  const cancelsAtOnce = (cancels * milliseconds(cancellation)) / 1000;
  const { cancelOrder, listOrders } = throttling;
  const perSecond = "a second";
  const units = "units a second";
  const atOnce = "at once";
  const writes = cancels * cancellation.writeUnits;
  const reads = lists * listOf(orders).readUnits;
  const listLess = `${raiseToQuota}, or list less often`;
  const limits = [
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
      "requests of the account (API Gateway guide, Quotas)",
      cancels + lists,
      10_000,
      perSecond,
      "ask Service Quotas for a higher throttle quota (L-8A5B8E43)",
    ),
    limit(
      "concurrent executions of the account (Lambda guide, Quotas)",
      cancelsAtOnce + listsAtOnce,
      1000,
      atOnce,
      "ask Service Quotas for more concurrent executions (L-B99A9384)",
    ),
  ];
  if (listConcurrency !== undefined)
    limits.push(limit("listConcurrency", listsAtOnce, listConcurrency, atOnce, raise));
  return limits.sort((a, b) => b.share - a.share);
}

const secondsInMonth = 730 * 3600;

/** Dollars for a month of this load, with every key in the authorizer's cache. */
export function monthlyDollars({ orders, cancelsPerSecond, listsPerMinute }: Load) {
  const lists = (listsPerMinute / 60) * cost(listOf(orders));
  const serving = secondsInMonth * (cancelsPerSecond * cost(cancellation) + lists);
  return serving + (orders / 1e6) * millionOrdersMonth;
}
