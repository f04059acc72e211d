import { randomUUID } from "node:crypto";
import {
  ConditionalCheckFailedException,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { carryOver } from "../../infra/admin/carry-over.ts";
import { orderRules } from "../../infra/admin/carry-over-rules.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { createTable } from "../helpers/create-table.ts";
import { type Behaviour, passOn, startFaultProxy } from "../helpers/faults/fault-proxy.ts";
import { applied, unapplied } from "../helpers/faults/faults.ts";
import { shipOrder } from "../helpers/ship-order.ts";
import { createTestTables } from "../helpers/test-tables.ts";

const tables = await createTestTables();
const { client } = tables;
/** The table that was restored, to which orders are carried over. */
const newTable = tables.tables.orders;

const faults: Record<string, Behaviour> = {
  none: passOn,
  "response lost": applied["reset after the engine"],
  "request lost": unapplied["reset before a response"],
};

/** The fate of one order. */
const orderPlan = fc.record({
  /** Its status at the second that was restored; undefined if it was placed later. */
  restored: fc.constantFrom(undefined, "pending", "pending", "shipped", "cancelled"),
  /** The changes made since, in the old table. */
  since: fc.array(
    fc.constantFrom("place", "ship", "cancel", "cancel by the leaked key", "correct"),
    { maxLength: 3 },
  ),
  /**
   * The change made in the new table meanwhile, and whether it comes just before the order would be
   * written there.
   */
  meanwhile: fc.constantFrom("nothing", "nothing", "ship", "cancel"),
  atTheLastMoment: fc.boolean(),
  fault: fc.constantFrom(...Object.keys(faults)),
});
const plansArbitrary = fc.array(orderPlan, { minLength: 1, maxLength: 10 });

type Plan = typeof orderPlan extends fc.Arbitrary<infer Value> ? Value : never;
type Action = Plan["since"][number];

function newOrder(id: number, status: string): OrderItem {
  const number = { N: String(id) };
  return { id: number, status: { S: status }, petId: number };
}

/** Resolves with whether the order's status allowed the action, which others then rely on. */
async function act(table: string, id: number, action: Action): Promise<boolean> {
  if (action === "ship") return shipOrder(client, table, BigInt(id));
  try {
    if (action === "place") await place(table, id);
    if (action === "cancel") await cancel(table, id, "key_a");
    if (action === "cancel by the leaked key") await cancel(table, id, "key_leaked");
    if (action === "correct") await correct(table, id);
    return true;
  } catch (error) {
    const wasRejected =
      error instanceof ServiceError || error instanceof ConditionalCheckFailedException;
    if (wasRejected) return false;
    throw error;
  }
}

async function place(table: string, id: number): Promise<void> {
  const command = new PutItemCommand({
    TableName: table,
    Item: newOrder(id, "pending"),
    ConditionExpression: "attribute_not_exists(id)",
  });
  await client.send(command);
}

function cancel(table: string, id: number, keyId: string): Promise<void> {
  return cancelOrder(client, table, {
    orderId: BigInt(id),
    cancelledBy: keyId,
    cancelledAt: new Date(),
    cancellationId: randomUUID(),
  });
}

/** Changes a field that says nothing about the order's status. */
async function correct(table: string, id: number): Promise<void> {
  const command = new UpdateItemCommand({
    TableName: table,
    Key: { id: { N: String(id) } },
    UpdateExpression: "SET petId = :corrected",
    ConditionExpression: "attribute_exists(id)",
    ExpressionAttributeValues: { ":corrected": { N: "0" } },
  });
  await client.send(command);
}

async function itemsById(table: string): Promise<Map<number, OrderItem>> {
  const pages: OrderItem[][] = await Array.fromAsync(new TableCalls(client).scan(table));
  return new Map(pages.flat().map((item) => [Number(item["id"]?.N), item]));
}

const statusOf = (item: OrderItem | undefined) => item?.["status"]?.S;

/**
 * Fills the new table with the orders that were restored, and makes an old one, with what has
 * happened to them there since.
 */
async function createOldTable(plans: Plan[]) {
  const oldTable = `Old-${randomUUID()}`;
  await createTable(client, "orders", oldTable);
  for (const [id, { restored }] of plans.entries()) {
    if (restored === undefined) continue;
    const Item = newOrder(id, restored);
    await client.send(new PutItemCommand({ TableName: oldTable, Item }));
    await client.send(new PutItemCommand({ TableName: newTable, Item }));
  }
  for (const [id, { since }] of plans.entries())
    for (const action of since) await act(oldTable, id, action);
  return oldTable;
}

/** The changes made in the new table meanwhile, at most one to each order. */
class Meanwhile {
  /** The orders that such a change was tried on; undefined where it was rejected. */
  readonly acknowledged = new Map<number, OrderItem | undefined>();
  readonly #plans: Plan[];

  constructor(plans: Plan[]) {
    this.#plans = plans;
  }

  async act(id: number): Promise<void> {
    const action = this.#plans[id]?.meanwhile ?? "nothing";
    if (this.acknowledged.has(id) || action === "nothing") return;
    const done = await act(newTable, id, action);
    this.acknowledged.set(id, done ? (await itemsById(newTable)).get(id) : undefined);
  }
}

/** Gives each order's first write its fault, and interrupts the command at one of the writes. */
function startWriteFaults(
  plans: Plan[],
  meanwhile: Meanwhile,
  interruptedAt: number,
  interrupted: AbortController,
) {
  let writes = 0;
  return startFaultProxy(tables.dynamodbEndpoint, ({ operation, input, attempt }) => {
    if (!/^(Put|Update)Item$/.test(operation)) return undefined;
    writes += 1;
    if (writes === interruptedAt) interrupted.abort();
    const { Item, Key } = JSON.parse(input);
    const id = Number((Item ?? Key).id.N);
    const fault = faults[plans[id]?.fault ?? "none"] ?? passOn;
    return async (exchange) => {
      await meanwhile.act(id);
      await (attempt === 1 ? fault : passOn)(exchange);
    };
  });
}

/** An order as it was restored, as the old table has it, and as the new one acknowledged it. */
interface History {
  restored: OrderItem | undefined;
  old: OrderItem | undefined;
  acknowledged: OrderItem | undefined;
}

/** The order as the old table shipped or cancelled it, unless the leaked key did. */
function finalItem({ old }: History): OrderItem | undefined {
  if (old?.["cancelledBy"]?.S === "key_leaked") return undefined;
  return statusOf(old) === "pending" ? undefined : old;
}

function expectKept(now: OrderItem | undefined, history: History): void {
  const final = finalItem(history);
  if (history.acknowledged) expect(now).toEqual(history.acknowledged);
  else if (final) {
    // A shipment takes a correction along to the new table, a cancellation doesn't.
    const { petId: _, ...statusFields } = final;
    expect(now).toMatchObject(statusFields);
  } else if (history.restored) expect(now).toEqual(history.restored);
  else expect(statusOf(now)).toBe(history.old && "pending");
}

/** Whether both tables have acknowledged an end of the order, but different ones. */
function disagrees(history: History): boolean {
  const final = finalItem(history);
  if (history.acknowledged === undefined || final === undefined) return false;
  return statusOf(final) !== statusOf(history.acknowledged);
}

test("carrying orders over keeps what was acknowledged, whatever happens meanwhile", async () => {
  await fc.assert(
    fc.asyncProperty(plansArbitrary, fc.nat({ max: 12 }), async (plans, interruptedAt) => {
      await tables.empty();
      const oldTable = await createOldTable(plans);
      const restored = await itemsById(newTable);
      const old = await itemsById(oldTable);
      const meanwhile = new Meanwhile(plans);
      for (const [id, { atTheLastMoment }] of plans.entries())
        if (!atTheLastMoment) await meanwhile.act(id);

      const interrupted = new AbortController();
      const proxy = await startWriteFaults(plans, meanwhile, interruptedAt, interrupted);
      const proxied = engineClient(proxy.endpoint);
      try {
        const carry = ({ signal }: AbortController) => {
          const calls = new TableCalls(proxied);
          const rules = orderRules(["key_leaked"]);
          return carryOver({
            from: oldTable,
            to: newTable,
            rules,
            reads: calls,
            writes: calls,
            dryRun: false,
            signal,
          });
        };
        await carry(interrupted);
        const second = await carry(new AbortController());
        const third = await carry(new AbortController());

        const now = await itemsById(newTable);
        const histories = plans.map((_, id) => ({
          restored: restored.get(id),
          old: old.get(id),
          acknowledged: meanwhile.acknowledged.get(id),
        }));
        for (const [id, history] of histories.entries()) expectKept(now.get(id), history);
        const disagreeing = histories.filter(disagrees).length;
        expect(second.json).toMatchObject({ complete: true, disagreeing });
        const nothingLeft = { complete: true, placed: 0, shipped: 0, cancelled: 0 };
        expect(third.json).toMatchObject(nothingLeft);
      } finally {
        proxied.destroy();
        await proxy.stop();
      }
    }),
    { numRuns: 12 },
  );
});
