import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, describe, expect, inject, test } from "vitest";
import { readFunctions } from "../../infra/local/functions.ts";
import { readStack } from "../../infra/local/template.ts";
import { bundleSizes } from "./bundle-size.ts";
import { listGrowth } from "./list.ts";
import { verdict } from "./row.ts";

const perPage = 6500;

/** An engine that has as many orders as asked for, and gives them in pages of about 1 MB. */
const engine = { orders: 0, server: createServer() };
engine.server.on("request", async (request, response) => {
  const { ExclusiveStartKey } = (await json(request)) as { ExclusiveStartKey?: { id: { N: string } } };
  const from = Number(ExclusiveStartKey?.id.N ?? 0);
  const to = Math.min(from + perPage, engine.orders);
  const Items = Array.from({ length: to - from }, (_, offset) => order(from + offset));
  const LastEvaluatedKey = to < engine.orders ? { id: { N: String(to) } } : undefined;
  response
    .writeHead(200, { "content-type": "application/x-amz-json-1.0" })
    .end(JSON.stringify({ Items, LastEvaluatedKey }));
});
await new Promise<void>((resolve) => engine.server.listen(0, "127.0.0.1", resolve));
afterAll(() => engine.server.close());

const { port } = engine.server.address() as AddressInfo;
const functions = readFunctions(await readStack(inject("assembly")), `http://127.0.0.1:${port}`);

function order(id: number): object {
  const shipDate = { S: "2026-11-20T12:00:00.000Z" };
  return { id: { N: String(id) }, petId: { N: "101" }, quantity: { N: "1" }, shipDate, complete: { BOOL: false } };
}

describe("what does not depend on how fast a machine is", () => {
  test("every bundle keeps within its budget", async () => {
    for (const row of await bundleSizes(functions)) expect([row.what, verdict(row)]).toEqual([row.what, "met"]);
  });

  test("a list twenty times as long takes no more memory", async () => {
    const listOrders = functions.find(({ name }) => name === "ListOrders");
    if (listOrders === undefined) throw new Error("There is no function ListOrders");
    const peak = async (length: number): Promise<number> => {
      engine.orders = length;
      return (await listGrowth(listOrders, length, 400_000)).peakMemory;
    };
    const [short, long] = [await peak(10_000), await peak(200_000)];
    expect(long / short).toBeLessThanOrEqual(1.25);
  });
});
