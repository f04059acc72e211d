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
  const throttledMegabytes = Math.max(0, list.sentKilobytes / 1000 - quota.unthrottledMegabytes);
  return Math.max(running, reading, throttledMegabytes / quota.streamedMegabytesPerSecond);
}

/** The limit at which AWS cuts off a list of so many orders; undefined when it sends all of it. */
export function cutOffAt(orders: number): "200 MB" | "15 minutes" | undefined {
  if (listOf(orders).sentKilobytes / 1000 > quota.streamedMegabytes) return "200 MB";
  return listSeconds(orders) > quota.listSeconds ? "15 minutes" : undefined;
}

/** Every limit under a load, the one that is reached first at the head. */
export function limitsUnder(load: Load, environment: Environment): Limit[] {
  const limits = [...listLimits(load), ...settings(load, environment), ...accountQuotas(load)];
  return limits.sort((a, b) => share(b) - share(a));
}

/** The share of a limit that is used: above 1, it is exceeded. */
export function share({ used, available }: Limit): number {
  return used / available;
}

const endOfV1 = "nothing raises it: here v1 ends, which lists all orders in one response";

function listLimits({ orders, listsPerMinute }: Load): Limit[] {
  if (listsPerMinute === 0) return [];
  return [
    {
      name: "a list's size, as gzip (Lambda guide, Response streaming)",
      used: listOf(orders).sentKilobytes / 1000,
      available: quota.streamedMegabytes,
      unit: "MB",
      raise: endOfV1,
    },
    {
      name: "a list's time, at 2 MB a second after 6 MB (API Gateway guide, Stream the response)",
      used: listSeconds(orders),
      available: quota.listSeconds,
      unit: "s",
      raise: endOfV1,
    },
  ];
}

function settings(load: Load, { throttling, tableThroughput, listConcurrency }: Environment) {
  const limits: Limit[] = [
    {
      name: "throttling.cancelOrder.rateLimit",
      used: load.cancelsPerSecond,
      available: throttling.cancelOrder.rateLimit,
      unit: "a second",
      raise: "raise it in environments.ts",
    },
    {
      name: "throttling.listOrders.rateLimit",
      used: load.listsPerMinute / 60,
      available: throttling.listOrders.rateLimit,
      unit: "a second",
      raise: "raise it in environments.ts",
    },
    {
      name: "tableThroughput.writes",
      used: load.cancelsPerSecond * cancellation.writeUnits,
      available: tableThroughput.writes,
      unit: "units a second",
      raise: "raise it in environments.ts, up to the table's quota",
    },
    {
      name: "tableThroughput.reads",
      used: readUnits(load),
      available: tableThroughput.reads,
      unit: "units a second",
      raise: "raise it in environments.ts, up to the table's quota, or list less often",
    },
  ];
  if (listConcurrency !== undefined)
    limits.push({
      name: "listConcurrency",
      used: listsAtOnce(load),
      available: listConcurrency,
      unit: "at once",
      raise: "raise it in environments.ts",
    });
  return limits;
}

function accountQuotas(load: Load): Limit[] {
  const cancelsAtOnce =
    (load.cancelsPerSecond * milliseconds(cancellation, cancellation.memory)) / 1000;
  return [
    {
      name: "requests of the account (API Gateway guide, Quotas)",
      used: load.cancelsPerSecond + load.listsPerMinute / 60,
      available: quota.requestsPerSecond,
      unit: "a second",
      raise: "ask Service Quotas for a higher throttle quota (L-8A5B8E43)",
    },
    {
      name: "concurrent executions of the account (Lambda guide, Quotas)",
      used: cancelsAtOnce + listsAtOnce(load),
      available: quota.concurrency,
      unit: "at once",
      raise: "ask Service Quotas for more concurrent executions (L-B99A9384)",
    },
    {
      name: "writes of a table (DynamoDB guide, Quotas)",
      used: load.cancelsPerSecond * cancellation.writeUnits,
      available: quota.tableUnits,
      unit: "units a second",
      raise: "ask Service Quotas for a higher table-level write throughput",
    },
    {
      name: "reads of a table (DynamoDB guide, Quotas)",
      used: readUnits(load),
      available: quota.tableUnits,
      unit: "units a second",
      raise: "ask Service Quotas for a higher table-level read throughput",
    },
  ];
}

function readUnits({ orders, listsPerMinute }: Load): number {
  return (listsPerMinute / 60) * listOf(orders).readUnits;
}

function listsAtOnce({ orders, listsPerMinute }: Load): number {
  return (listsPerMinute / 60) * listSeconds(orders);
}

const secondsInMonth = 730 * 3600;

/** Dollars for a month of this load, with every key in the authorizer's cache. */
export function monthlyDollars({ orders, cancelsPerSecond, listsPerMinute }: Load): number {
  const cancels = cancelsPerSecond * secondsInMonth * cost(cancellation);
  const lists = (listsPerMinute / 60) * secondsInMonth * cost(listOf(orders));
  return cancels + lists + (orders / 1e6) * millionOrdersMonth;
}
