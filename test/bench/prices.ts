/**
 * AWS's prices in dollars: us-east-1, without free tier, collected on 2026-11-20 from the services'
 * price pages.
 */
export const price = {
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
export interface Work {
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
export const orderBytes = { stored: 250, index: 100, gzip: 13 };

/** Half a read unit for each 4 KB, eventually consistent; a page is 1 MB. */
export function listOf(orders: number): Work {
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

export const cancellation: Work = {
  name: "a cancellation",
  memory: 512,
  cpuMs: 2,
  waitMs: 5,
  writeUnits: 1,
  readUnits: 0,
  sentKilobytes: 0.3,
};

/** Asked once per key and cache time: a consistent read of one small item. */
export const authorization: Work = {
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

export function milliseconds({ cpuMs, waitMs }: Work, megabytes: number): number {
  return waitMs + cpuMs / Math.min(1, megabytes / wholeCpuMegabytes);
}

/** Dollars that Lambda takes for one. */
export function lambdaCost(work: Work, megabytes = work.memory): number {
  return (
    price.lambdaRequest +
    (milliseconds(work, megabytes) / 1000) * (megabytes / 1024) * price.gigabyteSecond
  );
}

/**
 * Dollars for one whose key is in the authorizer's cache, behind a gateway that charges this for a
 * request, and for each further 10 MB that it streams.
 */
export function cost(work: Work, request = price.restRequest): number {
  const tables = work.writeUnits * price.writeUnit + work.readUnits * price.readUnit;
  const bytes =
    (work.sentKilobytes / 1e6) * price.sentGigabyte + (logKilobytes / 1e6) * price.logGigabyte;
  const streamed = (Math.max(0, work.sentKilobytes - 6000) / 1e6) * price.streamedGigabyte;
  return (
    request * Math.ceil(work.sentKilobytes / 10_000) + lambdaCost(work) + tables + bytes + streamed
  );
}

/** Dollars for keeping a million orders for a month, with their changes of the last 35 days. */
export const millionOrdersMonth =
  (1e6 / 1e9) *
  ((orderBytes.stored + orderBytes.index) * price.storedGigabyte +
    orderBytes.stored * price.recoverableGigabyte);
