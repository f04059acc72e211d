import { randomUUID } from "node:crypto";
import { BatchWriteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { ServiceError } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { createOperator } from "../admin/admin-process.ts";
import { createTable } from "../helpers/create-table.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { shipOrder } from "./ship-order.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
const { client } = tables;
const live = tables.tables.orders;

const total = 1000;
const leaked: OrderItem = {
  status: { S: "cancelled" },
  cancelledAt: { S: "2026-11-20T08:00:00.000Z" },
  cancelledBy: { S: "key_1eaced1eaced1eac" },
  cancellationId: { S: "leaked" },
};
const shipped: OrderItem = { status: { S: "shipped" }, complete: { BOOL: true } };

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
    const requests = orders.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests } }));
  }
}

/** What everyone who uses the table was told about an order. */
const told = new Map<number, OrderItem>();
let turns = 0;
const nextId = () => (turns++ * 79) % total;

async function cancelOne(keyId: string): Promise<void> {
  const id = nextId();
  const now = new Date();
  const cancellation = { cancelledBy: keyId, cancelledAt: now, cancellationId: randomUUID() };
  try {
    await cancelOrder(client, live, { orderId: BigInt(id), ...cancellation });
    told.set(id, {
      ...copied[id],
      status: { S: "cancelled" },
      cancelledAt: { S: now.toISOString() },
      cancelledBy: { S: keyId },
      cancellationId: { S: cancellation.cancellationId },
    });
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
  const clients = Array.from({ length: 20 }, (_, id) => tenTimes(() => cancelOne(`key_${id}`)));
  await Promise.all([...clients, tenTimes(shipAndPlaceOne)]);
}

test("orders are mended while everyone uses them, though each command is killed once", async () => {
  const copy = `Copy-${randomUUID()}`;
  await createTable(client, "orders", copy);
  await tables.putKey({ keyId: "key_1eaced1eaced1eac" });
  await putAll(copy, copied);
  await putAll(live, damaged);

  let onWrite = (): void => {};
  const { proxy } = await tables.behindProxy(({ operation }) => {
    if (/^(Put|Update)Item$/.test(operation)) onWrite();
    return undefined;
  });
  await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
  const using: Promise<void>[] = [];
  /** Runs a command while everyone uses the table, kills it at a write, and runs it again. */
  const runTwice = async (words: string) => {
    let writes = 0;
    const first = operator.start(words.split(" "));
    onWrite = () => {
      writes++;
      if (writes === 1) using.push(useTable());
      if (writes === 20) first.kill("SIGKILL");
    };
    const { code } = await first.ended;
    writes = 0;
    onWrite = () => {
      writes++;
      if (writes === 1) using.push(useTable());
    };
    return { killed: code === null, ...(await operator.run(words.split(" "))) };
  };
  const reinstated = await runTwice(
    "orders reinstate --local --cancelled-by key_1eaced1eaced1eac --since 2026-11-20",
  );
  const repaired = await runTwice(`orders repair --local --from ${copy}`);
  await Promise.all(using);

  const wanted = new Map<number, object>(told);
  for (const [id, order] of copied.entries()) {
    const mended = wasLeaked(id) && { reinstatedAt: expect.any(Object) };
    wanted.set(id, { ...order, ...told.get(id), ...mended });
  }
  const orders = await tables.items("orders");
  expect(new Map(orders.map((order) => [Number(order["id"]?.N), order]))).toEqual(wanted);

  const contradictory = [...told].filter(
    ([id, order]) => wasRevived(id) && order["status"]?.S === "cancelled",
  ).length;
  const { stdout } = await operator.run(["orders", "repair", "--local", "--json", "--from", copy]);
  const counts = JSON.parse(stdout.split("\n").at(-2) ?? "");
  expect([reinstated, repaired].map(({ killed }) => killed)).toEqual([true, true]);
  expect(using).toHaveLength(4);
  expect(reinstated.code).toBe(0);
  expect(repaired.code).toBe(contradictory > 0 ? 1 : 0);
  expect(counts).toMatchObject({ complete: true, placed: 0, mended: 0, contradictory });
});
