import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readFunctions } from "../../infra/local/functions.ts";
import { machineHas } from "../helpers/machine.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { goals } from "./goals.ts";
import { type Growth, listGrowth } from "./growth.ts";
import { startPageServer } from "./page-server.ts";

// Budgets that don't depend on how fast a machine is.
const pages = await startPageServer(100_000);
afterAll(() => pages.close());
const functions = readFunctions(await readAssembly(), pages.endpoint);

test.each(functions)(
  "the bundle of $name is no larger than the bench's goal",
  async ({ directory, name }) => {
    const { size } = await stat(join(directory, "index.mjs"));
    expect(size / 1024).toBeLessThanOrEqual(goals[`bundle of ${name}`] ?? 0);
  },
);

// The bench judges how memory grows; these limits hold even on a busy machine.
describe.runIf(machineHas("/proc", "the memory of a long list"))(
  "a list of 9.4 MB by a process with a heap of 45 MB",
  () => {
    let growth: Growth;
    beforeAll(async () => {
      const listOrders = functions.find(({ name }) => name === "ListOrders");
      if (listOrders === undefined) throw new Error("There is no function ListOrders");
      // Nine tenths are the heap. With all orders in it, the process would run out and end.
      const smallFunction = { ...listOrders, memoryMegabytes: 50 };
      growth = await listGrowth(smallFunction, 100_000, 100_000);
    });

    test("is sent whole", () => {
      expect(growth.plain).toBe(9.44445);
    });

    test("takes less than 160 MB of memory", () => {
      expect(growth.peakMemory).toBeLessThan(160);
    });
  },
);
