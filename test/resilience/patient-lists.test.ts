import { text } from "node:stream/consumers";
import { BatchWriteItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { callLimits, createClient } from "../../shared/dynamodb.ts";
import { openOrderList } from "../../shared/order-list.ts";
import { scanOrders } from "../../shared/orders-table.ts";
import { createTable } from "../helpers/create-table.ts";
import { type Behaviour, passOn, startFaultProxy } from "../helpers/faults/fault-proxy.ts";
import { faults } from "../helpers/faults/faults.ts";

// A list of 50,000 orders is five pages of 1 MB, each of which costs an eventually consistent read 128 units. Here a
// page has ten orders and the same price, so the table is small and its bucket is as short as staging's.
const pages = 5;
const pageSize = 10;
const pageUnits = 128;
const stagingUnits = 2000;
const lists = 20;

/** Read units left in this second. */
let bucket = 0;

const throttled = faults["throttled by the table"];
const onePage: Behaviour = async (exchange) => {
  const input = JSON.stringify({ ...JSON.parse(exchange.input), Limit: pageSize });
  await passOn({ ...exchange, forward: () => exchange.forward(input) });
};

const engine = await startEngine();
const proxy = await startFaultProxy(engine.endpoint, () => {
  if (bucket < pageUnits) return throttled;
  bucket -= pageUnits;
  return onePage;
});
const log = { info: vi.spyOn(console, "info").mockReturnValue(), error: vi.spyOn(console, "error").mockReturnValue() };

beforeAll(async () => {
  const client = engineClient(engine.endpoint);
  await createTable(client, "orders", "orders");
  for (let page = 0; page < pages; page += 1) {
    const orders = Array.from({ length: pageSize }, (_, index) => ({ id: { N: String(page * pageSize + index) } }));
    const puts = orders.map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { orders: puts } }));
  }
  client.destroy();
});
beforeEach(() => {
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", proxy.endpoint);
  proxy.attempts.clear();
  for (const spy of Object.values(log)) spy.mockClear();
});
afterAll(async () => {
  await proxy.stop();
  await engine.stop();
});

/** Lists the orders with a client of its own, as a separate process would, and returns the list's text. */
async function list(waitOutThrottling?: number): Promise<string> {
  const client = createClient(callLimits.list);
  try {
    const orders = scanOrders(client, "orders", waitOutThrottling);
    const { body } = await openOrderList(orders, { acceptsGzip: false, keyId: "key_1" });
    return await text(body);
  } finally {
    client.destroy();
  }
}

describe("a table out of read units", () => {
  test(`makes ${lists} lists at once slow, and cuts none`, async () => {
    const refill = setInterval(() => {
      bucket = stagingUnits;
    }, 1000);
    onTestFinished(() => clearInterval(refill));
    const received = await Promise.all(Array.from({ length: lists }, () => list()));
    for (const json of received) expect(JSON.parse(json)).toHaveLength(pages * pageSize);
    expect(proxy.attempts.get("Scan")).toBeGreaterThan(lists * pages);
  });

  test.each([
    ["before the first page, ends a list in service_unavailable", 0],
    ["before the third page, cuts a list off", 2 * pageUnits],
  ])("until the deadline, %s, and not before", async (_, units) => {
    bucket = units;
    const waitOutThrottling = 4_000;
    const began = performance.now();
    await expect(list(waitOutThrottling)).rejects.toMatchObject({ code: "service_unavailable" });
    expect(performance.now() - began).toBeGreaterThanOrEqual(waitOutThrottling);
    const cutOff = log.error.mock.calls.map(([line]) => [line.event, line.orders]);
    expect(cutOff).toEqual(units === 0 ? [] : [["list_cut_off", 2 * pageSize]]);
  });
});
