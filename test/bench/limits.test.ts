import { expect, test } from "vitest";
import { noOption } from "../helpers/fixture-environments.ts";
import { isCutOff, limitsUnder } from "./limits.ts";

const few = { orders: 100, cancelsPerSecond: 1, listsPerMinute: 1, keys: 1 };
const many = { reads: 40_000, writes: 40_000 };
const { throttling } = noOption;

test.each([
  ["throttling.cancelOrder.rateLimit", { ...few, cancelsPerSecond: 500 }, {}],
  ["throttling.listOrders.rateLimit", { ...few, listsPerMinute: 900 }, {}],
  ["tableThroughput.reads", { ...few, orders: 1e6, listsPerMinute: 60 }, {}],
  ["a list's size, as gzip", { ...few, orders: 2e7, listsPerMinute: 0.01 }, {}],
  [
    "listConcurrency",
    { ...few, orders: 1e6, listsPerMinute: 20 },
    { tableThroughput: many, listConcurrency: 2 },
  ],
  [
    "reads of a new table",
    { ...few, orders: 1e6, listsPerMinute: 30 },
    { tableThroughput: many },
  ],
  [
    "writes of a new table",
    { ...few, cancelsPerSecond: 5000 },
    {
      tableThroughput: many,
      throttling: { ...throttling, cancelOrder: { rateLimit: 1e4, burstLimit: 1 } },
    },
  ],
  // A new account's: 15 requests a second, of which each calls the authorizer, too.
  [
    "invocations",
    { ...few, cancelsPerSecond: 15, keys: 1000, concurrency: 2 },
    { authorizerCacheSeconds: 0 },
  ],
])("%s is reached first with %j, and the settings %j", (name, load, settings) => {
  const environment = { ...noOption, ...settings };
  const [first] = limitsUnder({ concurrency: 1000, ...load }, environment);
  expect(first?.name).toMatch(name);
});

test("the authorizer is called once for each key and cache period", () => {
  const load = { ...few, cancelsPerSecond: 19, listsPerMinute: 60, concurrency: 1000 };
  const used = (keys: number) =>
    limitsUnder({ ...load, keys }, { ...noOption, authorizerCacheSeconds: 10 }).find(
      ({ name }) => name.startsWith("invocations"),
    )?.used;
  expect(used(50)).toBe(25);
  expect(used(1000)).toBe(40);
});

test("a list of more than 200 MB as gzip is cut off", () => {
  expect(isCutOff(6_000_000)).toBe(false);
  expect(isCutOff(9_000_000)).toBe(true);
});
