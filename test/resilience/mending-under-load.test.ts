import { randomUUID } from "node:crypto";
import { BatchWriteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { ServiceError } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { createTerminal } from "../admin/terminal.ts";
import { createTable } from "../helpers/create-table.ts";
import type { EngineCall } from "../helpers/faults/fault-proxy.ts";
import { shipOrder } from "./ship-order.ts";

const { client, items, putKey, start, tables } = await createTerminal();
const live = tables.orders;

const total = 1000;
const leakedKey = "key_1eaced1eaced1eac";
const copy = `Copy-${randomUUID()}`;
const shipped: OrderItem = { status: { S: "shipped" }, complete: { BOOL: true } };
const cancellation = (cancelledBy: string, cancelledAt: Date, cancellationId: string) => ({
  status: { S: "cancelled" },
  cancelledAt: { S: cancelledAt.toISOString() },
  cancelledBy: { S: cancelledBy },
  cancellationId: { S: cancellationId },
});
const leaked = cancellation(leakedKey, new Date("2026-11-20T08:00:00Z"), "leaked");

const newOrder = (id: number) => ({
  id: { N: String(id) },
  petId: { N: "1" },
  status: { S: "pending" },
  signature: { B: new Uint8Array([id % 256]) },
});

/** Those that are pending though they had shipped. */
const wasRevived = (id: number) => id % 10 === 2;
const wasLeaked = (id: number) => id % 10 === 3;

const copied = Array.from({ length: total }, (_, id) => ({
  ...newOrder(id),
  ...(wasRevived(id) && shipped),
}));
const damaged = copied.flatMap((order, id): OrderItem[] => {
  const wasDeleted = id % 10 === 0;
  if (wasDeleted) return [];
  const wasOverwritten = id % 10 === 1;
  if (wasOverwritten) return [{ id: order.id, status: { S: "?" } }];
  if (wasRevived(id)) return [{ ...order, status: { S: "pending" } }];
  return [wasLeaked(id) ? { ...order, ...leaked } : order];
});

async function putAll(table: string, orders: OrderItem[]): Promise<void> {
  for (let start = 0; start < orders.length; start += 25) {
    const requests = orders
      .slice(start, start + 25)
      .map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests } }));
  }
}

/** What everyone who uses the table was told about an order. */
const told = new Map<number, OrderItem>();
let turns = 0;
const nextId = () => (turns++ * 79) % total;

async function cancelOne(cancelledBy: string): Promise<void> {
  const id = nextId();
  const cancelledAt = new Date();
  const cancellationId = randomUUID();
  const request = { orderId: BigInt(id), cancelledBy, cancelledAt, cancellationId };
  try {
    await cancelOrder(client, live, request);
    const cancelled = cancellation(cancelledBy, cancelledAt, cancellationId);
    told.set(id, { ...copied[id], ...cancelled });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
}

async function shipAndPlaceOne(): Promise<void> {
  const id = nextId();
  const now = new Date();
  if (await shipOrder(client, live, BigInt(id), now))
    told.set(id, { ...copied[id], ...shipped, shipDate: { S: now.toISOString() } });
  const placed = newOrder(total + id);
  await client.send(new PutItemCommand({ TableName: live, Item: placed }));
  told.set(total + id, placed);
}

/** Twenty clients cancel orders, and a writer ships and places some, ten each. */
async function useTable(): Promise<void> {
  const tenTimes = async (act: () => Promise<void>): Promise<void> => {
    for (let time = 0; time < 10; time++) await act();
  };
  const clients = Array.from({ length: 20 }, (_, id) =>
    tenTimes(() => cancelOne(`key_${id}`)),
  );
  await Promise.all([...clients, tenTimes(shipAndPlaceOne)]);
}

test("orders are mended while everyone uses them, though each command is killed once", async () => {
  await createTable(client, "orders", copy);
  await putKey({ keyId: leakedKey });
  await putAll(copy, copied);
  await putAll(live, damaged);

  const using: Promise<void>[] = [];
  /** Runs a command while everyone uses the table, and kills it at a write if told to. */
  const run = async (words: string, killedAt?: number) => {
    let writes = 0;
    const calls = ({ operation }: EngineCall): undefined => {
      if (!/^(Put|Update)Item$/.test(operation)) return;
      writes++;
      if (writes === 1) using.push(useTable());
      if (writes === killedAt) child.kill("SIGKILL");
    };
    const { child, ended } = await start(words, { calls });
    return await ended;
  };
  const reinstate = `orders reinstate --cancelled-by ${leakedKey} --since 2026-11-20`;
  const repair = `orders repair --from ${copy}`;
  const codes: unknown[] = [];
  for (const words of [reinstate, repair])
    for (const killedAt of [20, undefined]) codes.push((await run(words, killedAt)).code);
  await Promise.all(using);

  const wanted = new Map<number, object>(told);
  for (const [id, order] of copied.entries()) {
    const mended = wasLeaked(id) && { reinstatedAt: expect.any(Object) };
    wanted.set(id, { ...order, ...told.get(id), ...mended });
  }
  const orders = await items("orders");
  expect(new Map(orders.map((order) => [Number(order["id"]?.N), order]))).toEqual(wanted);

  const contradictory = [...told].filter(
    ([id, order]) => wasRevived(id) && order["status"]?.S === "cancelled",
  ).length;
  expect(codes).toEqual([null, 0, null, contradictory > 0 ? 1 : 0]);
  expect(using).toHaveLength(4);
  const { stdout } = await run(`${repair} --json`);
  const counts = JSON.parse(stdout.split("\n").at(-2) ?? "");
  expect(counts).toMatchObject({ complete: true, placed: 0, mended: 0, contradictory });
});
