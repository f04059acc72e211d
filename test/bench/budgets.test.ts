import { afterAll, describe, expect, inject, test } from "vitest";
import { readFunctions } from "../../infra/local/template/functions.ts";
import { readStack } from "../../infra/local/template/synthesis.ts";
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

  test("a list twenty times as long takes no more memory", async () => {
    const listOrders = functions.find(({ name }) => name === "ListOrders");
    if (listOrders === undefined) throw new Error("There is no function ListOrders");
    const peak = async (length: number): Promise<number> => {
      pages.orders = length;
      return (await listGrowth(listOrders, length, 400_000)).peakMemory;
    };
    const [short, long] = [await peak(10_000), await peak(200_000)];
    expect(long / short).toBeLessThanOrEqual(1.25);
  });
});
