/** The highest value allowed in a row: a ratio, or a bundle's kilobytes (1024 bytes). */
export const goals: Record<string, number> = {
  "bundle of ListOrders": 200,
  "bundle of CancelOrder": 200,
  "bundle of Authorize": 200,
  "cold start of ListOrders, CPU, beside the stock SDK": 0.85,
  "cold start of CancelOrder, CPU, beside the stock SDK": 0.85,
  "cold start of Authorize, CPU, beside the stock SDK": 0.85,
  "warm cancel, time, beside the SDK alone": 1.2,
  "warm cancel, CPU, beside the SDK alone": 1.2,
  "list of 100,000, time, beside bare Scans": 1.12,
  "list of 100,000, CPU, beside the SDK alone": 0.5,
  "list of 100,000, CPU, beside calls signed by hand": 1,
  "list of 100,000 with exceptions, CPU, beside the SDK alone": 0.5,
  "list of 100,000 exceptions, CPU, beside the stock SDK": 1.1,
  "list of 1,000,000, peak memory, beside 10,000": 1.25,
  "list of 1,000,000, first byte, beside 10,000": 1.5,
  // At least 0.6 of the throughput.
  "orders import of 25,000, time, beside the SDK alone": 1.67,
  "orders export of 100,000, time, beside the SDK alone": 1.5,
  "orders export of 100,000, CPU, beside the SDK alone": 2,
  "orders ship of 25,000, time, beside the SDK alone": 1.2,
};

/** Why a row may miss its goal. A page never says MISSED without it. */
export const reasons: Record<string, string> = {};
