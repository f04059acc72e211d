import { expect, test } from "vitest";
import { noOption } from "../helpers/fixture-environments.ts";
import { isCutOff, limitsUnder } from "./limits.ts";

test.each([
  ["throttling.cancelOrder.rateLimit", 1e7, 500, 2],
  ["tableThroughput.reads", 1e6, 10, 60],
  ["throttling.listOrders.rateLimit", 100, 10, 900],
  ["a list's size, as gzip (Lambda guide, Response streaming)", 2e7, 1, 0.01],
])(
  "%s gives first with %d orders, %d cancellations a second and %d lists a minute",
  (name, orders, cancelsPerSecond, listsPerMinute) => {
    const [first] = limitsUnder({ orders, cancelsPerSecond, listsPerMinute }, noOption);
    expect(first).toMatchObject({ name });
  },
);

test("the concurrency of lists gives first where a setting bounds it", () => {
  const load = { orders: 1e6, cancelsPerSecond: 0, listsPerMinute: 20 };
  const tableThroughput = { reads: 20_000, writes: 1 };
  const environment = { ...noOption, tableThroughput, listConcurrency: 2 };
  const [first] = limitsUnder(load, environment);
  expect(first).toMatchObject({ name: "listConcurrency", available: 2 });
});

test("a list of more than 200 MB as gzip is cut off", () => {
  expect(isCutOff(15_000_000)).toBe(false);
  expect(isCutOff(16_000_000)).toBe(true);
});
