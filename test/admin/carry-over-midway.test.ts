import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Clock, systemClock } from "../../shared/clock.ts";
import { cancelledBy, createOldOrders, order } from "../helpers/admin/old-orders.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { justBefore, onEvery } from "../helpers/faults/fault-proxy.ts";
import { unapplied } from "../helpers/faults/faults.ts";

const tables = await createTestTables();
const { putOld, putNew, carryOrders, newOrders } = createOldOrders(tables);

describe("carrying orders over while others write and responses get lost", () => {
  test("cancels an order that someone else places, pending, just before it would be", async () => {
    await putOld(order(1, "cancelled", cancelledBy("key_a", "c1")));
    const theirs = order(1, "pending", { petId: { N: "7" } });
    const { target } = await tables.behindProxy(justBefore("PutItem", () => putNew(theirs)));
    expect((await carryOrders({ client: target.client })).json).toMatchObject({ placed: 0, cancelled: 1 });
    expect(await newOrders()).toEqual({ 1: { ...theirs, status: { S: "cancelled" }, ...cancelledBy("key_a", "c1") } });
  });

  test("goes on past an order that disagrees and has an id that no client can name", async () => {
    await putOld({ ...order(1, "cancelled"), id: { N: "1.5" } }, order(2, "shipped"));
    await putNew({ ...order(1, "shipped"), id: { N: "1.5" } }, order(2, "pending"));
    expect((await carryOrders()).json).toMatchObject({
      complete: true,
      shipped: 1,
      disagreements: [{ id: "1.5", here: "shipped", there: "cancelled" }],
    });
  });

  test("does not count as its own what someone else wrote while its request was lost", async () => {
    await putOld(order(1, "cancelled", cancelledBy("key_a", "c1")));
    await putNew(order(1, "pending"));
    const theirs = order(1, "cancelled", cancelledBy("key_b", "c2"));
    const { target } = await tables.behindProxy(({ operation, attempt }) =>
      operation !== "UpdateItem" || attempt > 1
        ? undefined
        : async ({ response }) => {
            await putNew(theirs);
            response.socket?.resetAndDestroy();
          },
    );
    expect((await carryOrders({ client: target.client })).json).toMatchObject({ cancelled: 0, alreadySo: 1 });
    expect(await newOrders()).toEqual({ 1: theirs });
  });

  test.each(["Scan", "GetItem", "UpdateItem", "PutItem"])(
    "waits for a throttled %s only until it is interrupted",
    async (name) => {
      await putOld(order(1, "shipped"), order(2, "pending"));
      await putNew(order(1, "pending"));
      const interrupted = new AbortController();
      const { proxy, target } = await tables.behindProxy(onEvery(name, unapplied["throttled by the table"]));
      const { region, credentials } = target.client.config;
      const client = new DynamoDBClient({ endpoint: proxy.endpoint, region, credentials, maxAttempts: 1 });
      onTestFinished(() => client.destroy());
      const heeded: (boolean | undefined)[] = [];
      const pause: Clock["pause"] = async (_milliseconds, signal) => {
        interrupted.abort();
        heeded.push(signal?.aborted);
        signal?.throwIfAborted();
      };
      const result = await carryOrders({ client, signal: interrupted.signal, clock: { ...systemClock, pause } });
      expect(result.note).toBe("Interrupted. The rest is not carried over yet.");
      expect(new Set(heeded)).toEqual(new Set([true]));
      // At most one for each order.
      expect(proxy.attempts.get(name)).toBeLessThanOrEqual(2);
    },
  );

  test("stops when it is interrupted, and says so", async () => {
    await putOld(...Array.from({ length: 100 }, (_, id) => order(id, "shipped")));
    const interrupted = new AbortController();
    const { target } = await tables.behindProxy(({ operation }) => {
      if (operation === "PutItem") interrupted.abort();
      return undefined;
    });
    const result = await carryOrders({ client: target.client, signal: interrupted.signal });
    expect(result).toMatchObject({
      json: { complete: false },
      note: "Interrupted. The rest is not carried over yet.",
      rejected: true,
    });
    const carried = Object.keys(await newOrders()).length;
    expect(carried).toBeLessThan(100);
    expect(result.json).toMatchObject({ placed: carried, shipped: carried });
  });
});
