import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import type { HttpResponse } from "../../infra/smoke/client.ts";
import { counted, readFilters } from "../helpers/metric-filters.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { startTestStack, type TestStack } from "../helpers/test-stack.ts";

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.stop());

const { directory } = await readAssembly();
const templateFile = join(directory, `${environments.staging.stackName}.template.json`);
const filters = readFilters(JSON.parse(await readFile(templateFile, "utf8")));

/** How many values these log lines add to each metric. */
function countValues(lines: unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [metric, value] of lines.flatMap((line) => counted(filters, line))) {
    expect(value).not.toBeNaN();
    // "PetStoreOrders/staging OrdersCancelled []" becomes "OrdersCancelled".
    const name = metric.replace("PetStoreOrders/staging ", "").replace(" []", "");
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const list = () => stack.call("/store/orders");
const cancel = (orderId: string) => stack.call(`/store/orders/${orderId}`, { method: "DELETE" });

/** Sends a request, and expects that the lines it logs add exactly these values. */
async function expectCounted(
  send: () => Promise<HttpResponse>,
  status: number,
  expected: Record<string, number>,
): Promise<void> {
  const before = stack.log.length;
  expect(await send()).toMatchObject({ status });
  const counts = () => countValues(stack.log.slice(before).map((line) => JSON.parse(line)));
  await expect.poll(counts).toEqual(expected);
}

describe("the metrics", () => {
  test("count a cancellation", async () => {
    await expectCounted(() => cancel("203"), 204, { OrdersCancelled: 1 });
  });

  test.each([
    ["102", 409, "order_already_shipped"],
    ["103", 409, "order_already_cancelled"],
    ["7", 404, "order_not_found"],
    ["abc", 404, "order_not_found"],
  ])(
    "count the rejected cancellation of order %s (%i) by its code, %s",
    async (orderId, status, code) => {
      const expected = { [`CancelsRejected [Code=${code}]`]: 1 };
      await expectCounted(() => cancel(orderId), status, expected);
    },
  );

  test("count a list and the time to its first page", async () => {
    await expectCounted(list, 200, { OrdersListed: 1, ListFirstPage: 1 });
  });

  test.each([
    [
      "an error that a function threw",
      { type: "platform.report", record: { status: "error", errorType: "Error" } },
    ],
    ["a client that left", { message: { event: "list_abandoned", orders: 1 } }],
  ])("count nothing for %s", (_what, line) => {
    expect(countValues([line])).toEqual({});
  });
});
