import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import type { HttpResponse } from "../../infra/smoke/client.ts";
import { smoke } from "../../infra/smoke/smoke-test.ts";
import { counted, readFilters } from "../helpers/metric-filters.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { startTestStack, type TestStack } from "../helpers/test-stack.ts";

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.stop());

const path = join(
  (await readAssembly()).directory,
  `${environments.staging.stackName}.template.json`,
);
const filters = readFilters(JSON.parse(await readFile(path, "utf8")));

/** How often these log lines count for each metric of the environment. */
function published(lines: unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [metric, value] of lines.flatMap((line) => counted(filters, line))) {
    expect(value).not.toBeNaN();
    const name = metric.replace("PetStoreOrders/staging ", "").replace(" []", "");
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe("the service on this machine", () => {
  test("keeps every promise that a deployed one must", async () => {
    const lines = await Array.fromAsync(
      smoke({ baseUrl: stack.baseUrl, apiKey: stack.apiKey, cancel: "204" }),
    );
    expect(lines.filter(({ kind }) => kind === "FAIL")).toEqual([]);
    expect(lines.filter(({ kind }) => kind === "pass")).toHaveLength(
      Object.keys(smokeChecks(stack, "204")).length,
    );
  });
});

describe("the metrics", () => {
  /** Expects a response, and then lines that make exactly these. */
  async function expectPublished(
    request: Promise<HttpResponse>,
    status: number,
    expected: Record<string, number>,
  ): Promise<void> {
    const before = stack.log.length;
    expect(await request).toMatchObject({ status });
    const counts = () => published(stack.log.slice(before).map((line) => JSON.parse(line)));
    await expect.poll(counts).toMatchObject(expected);
    expect(counts()).toEqual(expected);
  }
  const cancel = (orderId: string) => stack.call(`/store/orders/${orderId}`, { method: "DELETE" });

  test("count a cancellation", async () => {
    await expectPublished(cancel("203"), 204, { OrdersCancelled: 1 });
  });

  test.each([
    ["102", 409, "order_already_shipped"],
    ["103", 409, "order_already_cancelled"],
    ["7", 404, "order_not_found"],
    ["abc", 404, "order_not_found"],
  ])(
    "count the rejected cancellation of %s (%i) by its code, %s",
    async (orderId, status, code) => {
      await expectPublished(cancel(orderId), status, { [`CancelsRejected [Code=${code}]`]: 1 });
    },
  );

  test("count a list together with the time to its first page", async () => {
    await expectPublished(stack.call("/store/orders"), 200, { OrdersListed: 1, ListFirstPage: 1 });
  });

  test.each([
    [
      "an error that a function threw",
      { type: "platform.report", record: { status: "error", errorType: "Error" } },
    ],
    ["a client that left", { message: { event: "list_abandoned", orders: 1 } }],
  ])("count no failure for %s", (_what, line) => {
    expect(published([line])).toEqual({});
  });
});
