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
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { createTable } from "../helpers/create-table.ts";
import { type Behaviour, passOn, startFaultProxy } from "../helpers/faults/fault-proxy.ts";
import { applied, unapplied } from "../helpers/faults/faults.ts";
import { shipOrder } from "../helpers/ship-order.ts";

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

test("nothing acknowledged is left behind or overwritten, however often it is interrupted and whoever is faster", async () => {
  await fc.assert(
    fc.asyncProperty(plans, fc.nat({ max: 12 }), async (orders, interruptedAt) => {
      await tables.empty();
      const from = `Old-${randomUUID()}`;
      await createTable(client, "orders", from);
      for (const [id, { restored }] of orders.entries()) {
        if (!restored) continue;
        const Item: Item = {
          id: { N: String(id) },
          status: { S: restored },
          petId: { N: String(id) },
        };
        await Promise.all(
          [from, to].map((TableName) => client.send(new PutItemCommand({ TableName, Item }))),
        );
      }
      const restored = await itemsById(to);
      for (const [id, { since }] of orders.entries())
        for (const action of since) await act(from, id, action);
      const old = await itemsById(from);

      /** The orders whose change in the new table was acknowledged. */
      const here = new Map<number, Item | undefined>();
      const actHere = async (id: number): Promise<void> => {
        const { meanwhile = "nothing" } = orders[id] ?? {};
        if (here.has(id) || meanwhile === "nothing") return;
        const done = await act(to, id, meanwhile);
        here.set(id, done ? (await itemsById(to)).get(id) : undefined);
      };
      for (const [id, { atTheLastMoment }] of orders.entries())
        if (!atTheLastMoment) await actHere(id);

      let writes = 0;
      const interrupted = new AbortController();
      const proxy = await startFaultProxy(
        tables.dynamodbEndpoint,
        ({ operation, input, attempt }) => {
          if (!/^(Put|Update)Item$/.test(operation)) return undefined;
          if (++writes === interruptedAt) interrupted.abort();
          const { Item, Key } = JSON.parse(input);
          const id = Number((Item ?? Key).id.N);
          return async (exchange) => {
            await actHere(id);
            await (attempt === 1 ? faults[orders[id]?.fault ?? "none"] : passOn)?.(exchange);
          };
        },
      );
      const proxied = engineClient(proxy.endpoint);
      try {
        const carry = (signal: AbortSignal) => {
          const [calls, rules] = [new TableCalls(proxied), orderRules(["key_leaked"])];
          return carryOver({ from, to, rules, reads: calls, writes: calls, dryRun: false, signal });
        };
        await carry(interrupted.signal);
        const { signal } = new AbortController();
        const { json } = await carry(signal);
        expect((await carry(signal)).json).toMatchObject({
          complete: true,
          placed: 0,
          shipped: 0,
          cancelled: 0,
        });

        const now = await itemsById(to);
        const disagreeing: bigint[] = [];
        for (const [id] of orders.entries()) {
          const [then, there, done] = [restored.get(id), old.get(id), here.get(id)];
          const leftOut = there?.["cancelledBy"]?.S === "key_leaked";
          const final = !leftOut && statusOf(there) !== "pending" ? there : undefined;
          if (done) {
            expect(now.get(id)).toEqual(done);
            if (final && statusOf(final) !== statusOf(done)) disagreeing.push(BigInt(id));
          } else if (final) {
            const { petId: _, ...acknowledged } = final;
            expect(now.get(id)).toMatchObject(acknowledged);
          } else if (then) expect(now.get(id)).toEqual(then);
          else expect(statusOf(now.get(id))).toBe(there && "pending");
        }
        expect(json).toMatchObject({ complete: true, disagreeing: disagreeing.length });
      } finally {
        proxied.destroy();
        await proxy.stop();
      }
    }),
    { numRuns: 12 },
  );
});
