import { describe, expect, test } from "vitest";
import { noOption } from "../helpers/fixture-environments.ts";
import { cutOffAt, type Load, limitsUnder } from "./limits.ts";

const environment = {
  ...noOption,
  tableThroughput: { reads: 12_000, writes: 2000 },
  throttling: {
    ...noOption.throttling,
    listOrders: { rateLimit: 10, burstLimit: 20 },
    cancelOrder: { rateLimit: 200, burstLimit: 400 },
  },
};

describe("the limit that is reached first", () => {
  test.each<[string, Load]>([
    ["throttling.cancelOrder.rateLimit", { orders: 1e7, cancelsPerSecond: 500, listsPerMinute: 2 }],
    ["tableThroughput.reads", { orders: 1e6, cancelsPerSecond: 10, listsPerMinute: 60 }],
    ["throttling.listOrders.rateLimit", { orders: 100, cancelsPerSecond: 10, listsPerMinute: 900 }],
    [
      "a list's size, as gzip (Lambda guide, Response streaming)",
      { orders: 2e7, cancelsPerSecond: 1, listsPerMinute: 0.01 },
    ],
  ])("is %s under %j", (name, load) => {
    expect(limitsUnder(load, environment)[0]).toMatchObject({ name });
  });

  test("is the list's concurrency where a setting bounds it", () => {
    const load = { orders: 1e6, cancelsPerSecond: 0, listsPerMinute: 20 };
    const [first] = limitsUnder(load, { ...environment, listConcurrency: 2 });
    expect(first).toMatchObject({ name: "listConcurrency", available: 2 });
  });
});

test("a list of more than 200 MB as gzip is cut off", () => {
  expect(cutOffAt(15_000_000)).toBeUndefined();
  expect(cutOffAt(16_000_000)).toBe("200 MB");
});
