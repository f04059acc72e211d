import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readFunctions } from "../../infra/local/functions.ts";
import { machineHas } from "../helpers/machine.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { listGrowth } from "./list.ts";
import { startPageServer } from "./page-server.ts";
import { goals } from "./row.ts";

// What does not depend on how fast a machine is.
const pages = await startPageServer(100_000);
afterAll(() => pages.close());
const functions = readFunctions(await readAssembly(), pages.endpoint);

test.each(functions)(
  "the bundle of $name is no larger than the bench's goal",
  async ({ directory }) => {
    expect((await stat(join(directory, "index.mjs"))).size).toBeLessThanOrEqual(
      goals.bundle.goal * 1024,
    );
  },
);

// The bench judges how memory grows; this limit holds even on a busy machine.
test.runIf(machineHas("/proc", "the memory of a long list"))(
  "a list of 9.4 MB is sent whole by a process of 160 MB, with a heap of 45 MB",
  async () => {
    const listOrders = functions.find(({ name }) => name === "ListOrders");
    if (listOrders === undefined) throw new Error("There is no function ListOrders");
    // Nine tenths are the heap. With all orders in it, the process would run out and end.
    const { plain, peakMemory } = await listGrowth(
      { ...listOrders, memoryMegabytes: 50 },
      100_000,
      100_000,
    );
    expect(plain).toBe(9_444_450);
    expect(peakMemory).toBeLessThan(160);
  },
);
