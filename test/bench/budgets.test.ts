import { afterAll, describe, expect, inject, test } from "vitest";
import { readFunctions } from "../../infra/local/functions.ts";
import { readStack } from "../../infra/template/synthesis.ts";
import { machineHas } from "../helpers/machine.ts";
import { bundleSizes } from "./bundle-size.ts";
import { listGrowth } from "./list.ts";
import { startPageServer } from "./page-server.ts";
import { verdict } from "./row.ts";

const pages = await startPageServer();
afterAll(() => pages.close());
const functions = readFunctions(await readStack(inject("assembly")), pages.endpoint);

describe("what does not depend on how fast a machine is", () => {
  test("every bundle keeps within its budget", async () => {
    for (const row of await bundleSizes(functions)) expect([row.what, verdict(row)]).toEqual([row.what, "met"]);
  });

  // The bench judges how memory grows; this limit holds even on a busy machine.
  const hasProc = machineHas("/proc", "the memory of a long list");
  test.runIf(hasProc)("a list of 200,000 orders needs less memory than they would take", async () => {
    const listOrders = functions.find(({ name }) => name === "ListOrders");
    if (listOrders === undefined) throw new Error("There is no function ListOrders");
    pages.orders = 200_000;
    const { plain, gzip } = await listGrowth({ ...listOrders, memoryMegabytes: 50 }, pages.orders, 2 * pages.orders);
    expect(plain).toBeGreaterThan(gzip);
  });
});
