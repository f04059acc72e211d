import { randomUUID } from "node:crypto";
import { PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { carryOver } from "../../infra/admin/carry-over.ts";
import { orderRules } from "../../infra/admin/carry-over-rules.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import { engineClient } from "../../infra/local/engine/engine.ts";
import type { OrderItem as Item } from "../../shared/order.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { createTable } from "../helpers/create-table.ts";
import { type Behaviour, passOn, startFaultProxy } from "../helpers/faults/fault-proxy.ts";
import { applied, unapplied } from "../helpers/faults/faults.ts";
import { shipOrder } from "../helpers/ship-order.ts";
import { createTestTables } from "../helpers/test-tables.ts";

const tables = await createTestTables();
const { client } = tables;
const to = tables.tables.orders;

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
const plans = fc.array(orderPlan, { minLength: 1, maxLength: 10 });

/**
 * Does something to an order, if its status allows it; the service and other teams are told whether
 * it did.
 */
async function act(table: string, id: number, action: string): Promise<boolean> {
  const N = String(id);
  const Item: Item = { id: { N }, status: { S: "pending" }, petId: { N } };
  const command = { TableName: table, Key: { id: { N } } };
  const cancelBy = (keyId: string) =>
    cancelOrder(client, table, {
      orderId: BigInt(id),
      cancelledBy: keyId,
      cancelledAt: new Date(),
      cancellationId: randomUUID(),
    });
  const attempts: Record<string, () => Promise<unknown>> = {
    place: () =>
      client.send(
        new PutItemCommand({
          TableName: table,
          Item,
          ConditionExpression: "attribute_not_exists(id)",
        }),
      ),
    cancel: () => cancelBy("key_a"),
    "cancel by the leaked key": () => cancelBy("key_leaked"),
    correct: () =>
      client.send(
        new UpdateItemCommand({
          ...command,
          UpdateExpression: "SET petId = :corrected",
          ConditionExpression: "attribute_exists(id)",
          ExpressionAttributeValues: { ":corrected": { N: "0" } },
        }),
      ),
  };
  if (action === "ship") return shipOrder(client, table, BigInt(id));
  return (attempts[action] ?? (async () => {}))().then(
    () => true,
    () => false,
  );
}

async function itemsById(table: string): Promise<Map<number, Item>> {
  const items: Item[] = (await Array.fromAsync(new TableCalls(client).scan(table))).flat();
  return new Map(items.map((item) => [Number(item["id"]?.N), item]));
}

const statusOf = (item: Item | undefined) => item?.["status"]?.S;

type Plan = typeof orderPlan extends fc.Arbitrary<infer Value> ? Value : never;

/** A table of before, from which the new one was restored, with what has happened there since. */
async function oldTable(orders: Plan[]) {
  const from = `Old-${randomUUID()}`;
  await createTable(client, "orders", from);
  for (const [id, { restored }] of orders.entries()) {
    if (restored === undefined) continue;
    const N = String(id);
    const Item: Item = { id: { N }, status: { S: restored }, petId: { N } };
    await Promise.all(
      [from, to].map((TableName) => client.send(new PutItemCommand({ TableName, Item }))),
    );
  }
  const restored = await itemsById(to);
  for (const [id, { since }] of orders.entries())
    for (const action of since) await act(from, id, action);
  return { from, restored, old: await itemsById(from) };
}

/** The changes made in the new table meanwhile, one to each order. */
class Meanwhile {
  /** The orders whose change was acknowledged, or not: those are undefined. */
  readonly done = new Map<number, Item | undefined>();
  readonly #orders: Plan[];

  constructor(orders: Plan[]) {
    this.#orders = orders;
  }

  async act(id: number): Promise<void> {
    const { meanwhile = "nothing" } = this.#orders[id] ?? {};
    if (this.done.has(id) || meanwhile === "nothing") return;
    const done = await act(to, id, meanwhile);
    this.done.set(id, done ? (await itemsById(to)).get(id) : undefined);
  }
}

/** Gives each order's first write its fault, and the carrying over an end at one of the writes. */
function plagueWrites(
  orders: Plan[],
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
    return async (exchange) => {
      await meanwhile.act(id);
      await (attempt === 1 ? faults[orders[id]?.fault ?? "none"] : passOn)?.(exchange);
    };
  });
}

/** An order as it was restored, as the old table has it, and as the new one acknowledged it. */
interface Fates {
  restored: Item | undefined;
  old: Item | undefined;
  acknowledged: Item | undefined;
}

/** The last word of the old table, unless the leaked key had it. */
function finalItem({ old }: Fates): Item | undefined {
  if (old?.["cancelledBy"]?.S === "key_leaked") return undefined;
  return statusOf(old) === "pending" ? undefined : old;
}

function expectKept(now: Item | undefined, fates: Fates): void {
  const final = finalItem(fates);
  if (fates.acknowledged) expect(now).toEqual(fates.acknowledged);
  else if (final) {
    const { petId: _, ...acknowledged } = final;
    expect(now).toMatchObject(acknowledged);
  } else if (fates.restored) expect(now).toEqual(fates.restored);
  else expect(statusOf(now)).toBe(fates.old && "pending");
}

/** Whether both tables have acknowledged an end of the order, but not the same. */
function disagrees(fates: Fates): boolean {
  const final = finalItem(fates);
  return (
    fates.acknowledged !== undefined &&
    final !== undefined &&
    statusOf(final) !== statusOf(fates.acknowledged)
  );
}

test("carrying orders over keeps what was acknowledged, whatever happens meanwhile", async () => {
  await fc.assert(
    fc.asyncProperty(plans, fc.nat({ max: 12 }), async (orders, interruptedAt) => {
      await tables.empty();
      const { from, restored, old } = await oldTable(orders);
      const meanwhile = new Meanwhile(orders);
      for (const [id, { atTheLastMoment }] of orders.entries())
        if (!atTheLastMoment) await meanwhile.act(id);

      const interrupted = new AbortController();
      const proxy = await plagueWrites(orders, meanwhile, interruptedAt, interrupted);
      const proxied = engineClient(proxy.endpoint);
      try {
        const carry = ({ signal }: AbortController) => {
          const calls = new TableCalls(proxied);
          const rules = orderRules(["key_leaked"]);
          return carryOver({ from, to, rules, reads: calls, writes: calls, dryRun: false, signal });
        };
        await carry(interrupted);
        const { json } = await carry(new AbortController());
        const nothingLeft = { complete: true, placed: 0, shipped: 0, cancelled: 0 };
        expect((await carry(new AbortController())).json).toMatchObject(nothingLeft);

        const now = await itemsById(to);
        const fates = orders.map((_, id) => ({
          restored: restored.get(id),
          old: old.get(id),
          acknowledged: meanwhile.done.get(id),
        }));
        for (const [id, fate] of fates.entries()) expectKept(now.get(id), fate);
        expect(json).toMatchObject({
          complete: true,
          disagreeing: fates.filter(disagrees).length,
        });
      } finally {
        proxied.destroy();
        await proxy.stop();
      }
    }),
    { numRuns: 12 },
  );
});
