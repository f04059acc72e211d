import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { smoke } from "../../infra/smoke/smoke.ts";
import { startTestStack, type TestStack } from "../helpers/test-stack.ts";

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.stop());

/** The stack's metric filters: what each is called, the pattern it counts by, and its dimension or value. */
const filters = await (async () => {
  const path = join(inject("assembly"), "PetStoreOrders-staging.template.json");
  const { Resources } = JSON.parse(await readFile(path, "utf8"));
  return Object.values<{ Type: string; Properties: Filter }>(Resources)
    .filter(({ Type }) => Type === "AWS::Logs::MetricFilter")
    .map(({ Properties: { FilterPattern, MetricTransformations } }) => ({
      FilterPattern,
      ...MetricTransformations[0],
    }));
})();

interface Filter {
  FilterPattern: string;
  MetricTransformations: [{ MetricName: string; MetricValue: string; Dimensions?: { Value: string }[] }];
}

/** What a selector like `$.message.event` selects from a line. */
function select(line: unknown, selector: string): unknown {
  return selector
    .split(".")
    .slice(1)
    .reduce<unknown>((value, name) => new Map(Object.entries(value ?? {})).get(name), line);
}

/** Whether CloudWatch's pattern, of the few forms that the stack uses, matches a line. */
function matches(pattern: string, line: unknown): boolean {
  return pattern
    .replace(/^\{|\}$/g, "")
    .split("||")
    .some((either) =>
      [...either.matchAll(/(\$[\w.]+) (=|>=) ("[^"]*"|\d+)/g)].every(([, selector = "", operator, literal = ""]) => {
        const value = select(line, selector);
        return operator === "=" ? value === JSON.parse(literal) : typeof value === "number" && value >= Number(literal);
      }),
    );
}

/** How often these log lines publish each metric. */
function published(lines: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of lines.map((text) => JSON.parse(text))) {
    for (const { FilterPattern, MetricName, MetricValue, Dimensions } of filters) {
      if (!matches(FilterPattern, line)) continue;
      if (MetricValue !== "1") expect(select(line, MetricValue)).toBeTypeOf("number");
      const name = [MetricName, ...(Dimensions ?? []).map(({ Value }) => select(line, Value))].join(" ");
      counts[name] = (counts[name] ?? 0) + 1;
    }
  }
  return counts;
}

describe("the service on this machine", () => {
  test("keeps every promise that a deployed one must", async () => {
    const lines = await Array.fromAsync(smoke({ baseUrl: stack.baseUrl, apiKey: stack.apiKey, cancel: "204" }));
    expect(lines.filter(({ kind }) => kind === "broken")).toEqual([]);
    expect(lines.filter(({ kind }) => kind === "kept")).toHaveLength(15);
  });
});

describe("the metrics", () => {
  /** Waits until the lines that a request causes have made exactly these. */
  async function expectPublished(request: Promise<unknown>, expected: Record<string, number>): Promise<void> {
    const before = stack.log.length;
    await request;
    await expect.poll(() => published(stack.log.slice(before))).toEqual(expected);
  }
  const cancel = (orderId: string) => stack.call(`/store/orders/${orderId}`, { method: "DELETE" });

  test("count a cancellation", async () => {
    await expectPublished(cancel("203"), { OrdersCancelled: 1 });
  });

  test.each([
    ["102", "order_already_shipped"],
    ["103", "order_already_cancelled"],
    ["7", "order_not_found"],
    ["abc", "order_not_found"],
  ])("count the rejected cancellation of %s by its code, %s", async (orderId, code) => {
    await expectPublished(cancel(orderId), { [`CancelsRejected ${code}`]: 1 });
  });

  test("count a list, and how long it took to begin", async () => {
    await expectPublished(stack.call("/store/orders"), { OrdersListed: 1, ListFirstPage: 1 });
  });

  test.each([
    ["list_cut_off", { message: { event: "list_cut_off", orders: 1, firstPageMilliseconds: 3 } }, true],
    ["a timeout", { type: "platform.report", record: { status: "timeout" } }, true],
    ["a crash", { type: "platform.report", record: { status: "failure" } }, true],
    ["an error that a function threw", { type: "platform.report", record: { status: "error" } }, false],
    ["a client that left", { message: { event: "list_abandoned", orders: 1 } }, false],
  ])("count a list cut off by %s", (_what, line, counted) => {
    expect(published([JSON.stringify(line)])["ListsCutOff"]).toBe(counted ? 1 : undefined);
  });

  test.each(["AUTHORIZER_FAILURE", "AUTHORIZER_CONFIGURATION_ERROR"])("count the authorizer's %s", (responseType) => {
    expect(published([JSON.stringify({ responseType, status: "500" })])).toEqual({ AuthorizerFailures: 1 });
    expect(published([JSON.stringify({ responseType: "UNAUTHORIZED", status: "401" })])).toEqual({});
  });
});
