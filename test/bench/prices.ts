import { orderBytes } from "./orders.ts";

/** AWS's prices in dollars: us-east-1, the first tier's, without free tiers. */
export const price = {
  restRequest: 3.5e-6,
  lambdaRequest: 0.2e-6,
  /** arm64. */
  gigabyteSecond: 0.0000133334,
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  logGigabyte: 0.5,
  sentGigabyte: 0.09,
  /** A gigabyte of a streamed response, beyond its first 6 MB. */
  streamedGigabyte: 0.008,
  /** A gigabyte stored for a month, and the same for point-in-time recovery. */
  storedGigabyte: 0.25,
  recoverableGigabyte: 0.2,
  /** A month of one metric that an alarm watches. */
  alarmMetric: 0.1,
  /** A month of one metric made by a metric filter, by the hours in which it has data. */
  customMetric: 0.3,
};

/**
 * AWS's own pages on which we could read a price, up to 2026-11-27. The others show theirs only to
 * a browser.
 */
export const sources: Partial<Record<keyof typeof price, string>> = {
  restRequest: "AWS, Best Practices for Designing API Gateway Private APIs",
  lambdaRequest: "AWS News Blog, 1ms Billing Granularity",
  storedGigabyte: "aws.amazon.com/dynamodb/pricing",
};

export interface Work {
  name: string;
  /** The function's megabytes. */
  memory: number;
  /** Of a whole vCPU: half as much again as the bench measures for a long list, or estimated. */
  cpuMs: number;
  /** For DynamoDB, assumed: 5 for a small call, 10 for a page. */
  waitMs: number;
  writeUnits: number;
  readUnits: number;
  sentKilobytes: number;
}

/** The longer ones, so that no estimate is too low. */
export const order = orderBytes("long");
/** Bytes that DynamoDB charges for storing an item, on top ("Item sizes and formats"). */
const indexBytes = 100;

/** Half a read unit for each 4 KB, eventually consistent, 1 MB a page. */
export function listOf(orders: number): Work {
  const stored = orders * order.stored;
  return {
    name: `lists of ${orders.toLocaleString("en")} orders`,
    memory: 1024,
    cpuMs: 3 + orders * 0.009,
    waitMs: 10 * Math.ceil(stored / 1_048_576),
    writeUnits: 0,
    readUnits: Math.max(0.5, stored / 8192),
    sentKilobytes: 0.5 + (orders * order.gzip) / 1000,
  };
}

export const cancellation: Work = {
  name: "cancellations",
  memory: 512,
  cpuMs: 2,
  waitMs: 5,
  writeUnits: 1,
  readUnits: 0,
  sentKilobytes: 0.3,
};

/** A consistent read of one small item. The gateway charges nothing for asking the authorizer. */
export const authorization: Work = {
  ...cancellation,
  name: "calls of the authorizer, on top",
  writeUnits: 0,
  readUnits: 1,
  sentKilobytes: 0,
};

/** The lines of a request, and the one of a request that the gateway rejects. */
const logKilobytes = 0.8;
const rejectedKilobytes = 0.55;
/** Lambda gives a whole vCPU at 1,769 MB and shares in proportion. */
export const wholeCpuMegabytes = 1769;

export function milliseconds({ cpuMs, waitMs, memory }: Work) {
  return waitMs + cpuMs / Math.min(1, memory / wholeCpuMegabytes);
}

/** Dollars for a request that the gateway rejects: it charges for none, but the log does. */
export const rejectedCost = (rejectedKilobytes / 1e6) * price.logGigabyte;

/** Dollars for one request whose key is cached. The gateway charges each 10 MB as a request. */
export function cost(work: Work) {
  const gateway = price.restRequest * Math.ceil(work.sentKilobytes / 10_000);
  const gigabyteSeconds = (milliseconds(work) / 1000) * (work.memory / 1024);
  const lambda = price.lambdaRequest + gigabyteSeconds * price.gigabyteSecond;
  const tables = work.writeUnits * price.writeUnit + work.readUnits * price.readUnit;
  const log = (logKilobytes / 1e6) * price.logGigabyte;
  const sent = (work.sentKilobytes / 1e6) * price.sentGigabyte;
  const streamed =
    (Math.max(0, work.sentKilobytes - 6000) / 1e6) * price.streamedGigabyte;
  return gateway + lambda + tables + log + sent + streamed;
}

/** Dollars for keeping an order for a month, with its changes of the last 35 days. */
export const orderMonth =
  ((order.stored + indexBytes) * price.storedGigabyte +
    order.stored * price.recoverableGigabyte) /
  1e9;
