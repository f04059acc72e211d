import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readFunctions } from "../../infra/tools/local/template/functions.ts";
import { orderJson } from "../../shared/order.ts";
import { machineHas } from "../helpers/machine.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { goals } from "./goals.ts";
import { listOnce } from "./list.ts";
import { ordersFrom } from "./orders.ts";
import { startPageServer } from "./page-server.ts";
import { peakMegabytes } from "./samples.ts";
import { hostOf, withVariables } from "./subject.ts";

// Budgets that don't depend on how fast a machine is.
const functions = readFunctions(await readAssembly(), "http://127.0.0.1:1");

test.each(functions)(
  "the bundle of $name is no larger than the bench's goal",
  async ({ directory, name }) => {
    const { size } = await stat(join(directory, "index.mjs"));
    expect(size / 1024).toBeLessThanOrEqual(goals[`bundle of ${name}`] ?? 0);
  },
);

// The bench judges how memory grows; this limit holds even on a busy machine.
test.runIf(machineHas("/proc", "the memory of a long list"))(
  "a process with a heap of 45 MB sends a list of 9.9 MB whole, and takes less than 160 MB",
  async () => {
    const listOrders = functions.find(({ name }) => name === "ListOrders");
    if (listOrders === undefined) throw new Error("There is no function ListOrders");
    // Nine tenths are the heap. With all orders in it, the process would run out and end.
    const smallFunction = { ...listOrders, MemorySize: 50 };
    await using pages = await startPageServer(100_000);
    await using host = hostOf(withVariables(smallFunction, pages.variables));
    const { bytes } = await listOnce(host, "ListOrders");
    const orders = ordersFrom(0, 100_000).map((order) => orderJson(order, {}));
    expect(bytes).toBe(`[${orders}]`.length);
    expect(await peakMegabytes("ListOrders")).toBeLessThan(160);
  },
);
