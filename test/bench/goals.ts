/** What a row must not exceed: a ratio, or a figure where it has no floor. */
export const goals: Record<string, number> = {
  "bundle of ListOrders": 200,
  "bundle of CancelOrder": 200,
  "bundle of Authorize": 200,
  "cold start of ListOrders, beside the SDK bundled alike": 0.85,
  "cold start of ListOrders, beside the SDK as it comes": 0.8,
  "cold start of ListOrders, first response alone, beside the SDK bundled alike": 1.5,
  "cold start of CancelOrder, beside the SDK bundled alike": 0.85,
  "cold start of CancelOrder, beside the SDK as it comes": 0.8,
  "cold start of CancelOrder, first response alone, beside the SDK bundled alike": 1.5,
  "cold start of Authorize, beside the SDK bundled alike": 0.88,
  "cold start of Authorize, beside the SDK as it comes": 0.8,
  "cold start of Authorize, first response alone, beside the SDK bundled alike": 1.5,
  "first authorised cancel, nothing running, beside the SDK bundled alike": 1.05,
  "warm cancel, p50, beside the SDK alone": 1.2,
  "warm cancel, CPU, beside the SDK alone": 1.2,
  "list of 100,000, time, beside bare Scans": 1.12,
  "list of 100,000, CPU, beside the SDK alone": 0.85,
  "list of 1,000,000, peak memory, beside 10,000": 1.25,
  "list of 1,000,000, first byte, beside 10,000": 1.5,
  // At least 0.6 of the throughput.
  "orders import of 100,000, beside the SDK alone": 1.67,
  "npm start --orders, loading 50,000, beside bare transactions": 1.5,
  "npm start to ready": 6,
};

const mostIsNode = "Node, TLS and AWS's client take most";

/** Why a row may miss its goal. A page never says MISSED without it. */
export const reasons: Record<string, string> = {
  "cold start of ListOrders, beside the SDK bundled alike": mostIsNode,
  "cold start of CancelOrder, beside the SDK bundled alike": mostIsNode,
  "cold start of Authorize, beside the SDK bundled alike": mostIsNode,
};
