import { text } from "node:stream/consumers";
import { BatchWriteItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import type { Clock } from "../../shared/clock.ts";
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

/** Time that passes only while all of some lists pause; a second of it refills the bucket. */
class TableTime implements Clock {
  #now = 0;
  #running: number;
  #sleepers: { until: number; wake: () => void }[] = [];

  constructor(lists: number) {
    this.#running = lists;
  }

  now(): number {
    return this.#now;
  }

  async pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#sleepers.push({ until: this.#now + milliseconds, wake: resolve });
    this.#oneLessRuns();
    await promise;
  }

  ended(): void {
    this.#oneLessRuns();
  }

  #oneLessRuns(): void {
    this.#running -= 1;
    if (this.#running > 0) return;
    const [next] = this.#sleepers.sort((one, other) => one.until - other.until).splice(0, 1);
    if (next === undefined) return;
    if (Math.floor(next.until / 1000) > Math.floor(this.#now / 1000)) bucket = unitsASecond;
    this.#now = next.until;
    this.#running += 1;
    next.wake();
  }
}

/** Read units that come back each second. */
let unitsASecond = 0;

/** Lists the orders with a client of its own, as a separate process would, and returns the list's text. */
async function list(time: TableTime): Promise<string> {
  // The SDK's own retries would wait by the real clock.
  const client = createClient({ ...callLimits.list, maxAttempts: 1 });
  try {
    const { body } = await openOrderList(scanOrders(client, "orders", time), { acceptsGzip: false, keyId: "key_1" });
    return await text(body);
  } finally {
    time.ended();
    client.destroy();
  }
}

describe("a table out of read units", () => {
  test(`makes ${lists} lists at once slow, and cuts none`, async () => {
    unitsASecond = 2000;
    const time = new TableTime(lists);
    const received = await Promise.all(Array.from({ length: lists }, () => list(time)));
    for (const json of received) expect(JSON.parse(json)).toHaveLength(pages * pageSize);
    // 100 pages, of which each second has units for 15.
    expect(time.now()).toBeGreaterThan(6_000);
    expect(proxy.attempts.get("Scan")).toBeGreaterThan(lists * pages);
  });

  test.each([
    ["before the first page, ends a list in service_unavailable", 0],
    ["before the third page, cuts a list off", 2 * pageUnits],
  ])("for a minute, %s", async (_, units) => {
    bucket = units;
    unitsASecond = 0;
    const time = new TableTime(1);
    await expect(list(time)).rejects.toMatchObject({ code: "service_unavailable" });
    expect(time.now()).toBe(60_000);
    const cutOff = log.error.mock.calls.map(([line]) => [line.event, line.orders]);
    expect(cutOff).toEqual(units === 0 ? [] : [["list_cut_off", 2 * pageSize]]);
  });
});
