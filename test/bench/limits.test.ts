import { expect, test } from "vitest";
import { noOption } from "../helpers/fixture-environments.ts";
import { isCutOff, limitsUnder } from "./limits.ts";

const load = {
  orders: 1e6,
  cancelsPerSecond: 1,
  listsPerMinute: 0.01,
  keys: 1,
  concurrency: 1000,
};
const tableThroughput = { reads: 40_000, writes: 40_000 };
const throttling = {
  listOrders: { rateLimit: 1e5, burstLimit: 1 },
  cancelOrder: { rateLimit: 1e5, burstLimit: 1 },
};
const unlimited = { tableThroughput, throttling };

test.each([
  ["throttling.cancelOrder.rateLimit", { cancelsPerSecond: 500 }, {}],
  ["throttling.listOrders.rateLimit", { orders: 100, listsPerMinute: 900 }, {}],
  ["tableThroughput.reads", { listsPerMinute: 60 }, {}],
  ["a list's size, as gzip", { orders: 2e7 }, {}],
  ["listConcurrency", { listsPerMinute: 20 }, { ...unlimited, listConcurrency: 2 }],
  ["reads of a new table", { listsPerMinute: 30 }, unlimited],
  ["writes of a new table", { cancelsPerSecond: 5000 }, unlimited],
  [
    "invocations",
    { cancelsPerSecond: 15, keys: 1000, concurrency: 2 },
    { authorizerCacheSeconds: 0 },
  ],
])("%s is reached first with %j, and the settings %j", (name, more, settings) => {
  const [first] = limitsUnder({ ...load, ...more }, { ...noOption, ...settings });
  expect(first?.name).toMatch(name);
});

test.each([
  [50, 26],
  [1000, 42],
])("the authorizer is called once for each of %d keys and cache period", (keys, used) => {
  const busy = { ...load, cancelsPerSecond: 20, listsPerMinute: 60, keys };
  const limits = limitsUnder(busy, { ...noOption, authorizerCacheSeconds: 10 });
  const invocations = limits.find(({ name }) => name.startsWith("invocations"));
  expect(invocations).toMatchObject({ used });
});

test("a list of more than 200 MB as gzip is cut off", () => {
  expect(isCutOff(6_000_000)).toBe(false);
  expect(isCutOff(9_000_000)).toBe(true);
});
