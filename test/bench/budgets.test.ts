import { afterAll, describe, expect, inject, test } from "vitest";
import { readFunctions } from "../../infra/local/functions.ts";
import { readStack } from "../../infra/template/synthesis.ts";
import { machineHas } from "../helpers/machine.ts";
import { bundleSizes } from "./bundle-size.ts";
import { listGrowth } from "./list.ts";
import { startPageServer } from "./page-server.ts";
import { missed } from "./row.ts";

const pages = await startPageServer();
afterAll(() => pages.close());
const functions = readFunctions(await readStack(inject("assembly")), pages.endpoint);

describe("what does not depend on how fast a machine is", () => {
  test("every bundle keeps within 230 KB", async () => {
    const rows = await bundleSizes(functions);
    expect(rows.map(({ goal }) => goal)).toEqual(functions.map(() => 230));
    expect(missed(rows)).toEqual([]);
  });

  // The bench judges how memory grows; this limit holds even on a busy machine.
  const hasProc = machineHas("/proc", "the memory of a long list");
  test.runIf(hasProc)(
    "a list of 200,000 orders, 19 MB, is sent whole by a process with a heap of 45 MB, of 160 MB in all",
    async () => {
      const listOrders = functions.find(({ name }) => name === "ListOrders");
      if (listOrders === undefined) throw new Error("There is no function ListOrders");
      pages.orders = 200_000;
      // Nine tenths are the heap. With all orders in it, or all of their text, the process would run out and end.
      const small = { ...listOrders, memoryMegabytes: 50 };
      const { plain, peakMemory, wall, firstByte } = await listGrowth(small, pages.orders, pages.orders);
      expect(plain).toBe(19_000_010);
      expect(peakMemory).toBeLessThan(160);
      // The only list started the process, so it says nothing of a list's time.
      expect([wall, firstByte]).toEqual([Number.NaN, Number.NaN]);
    },
  );
});
