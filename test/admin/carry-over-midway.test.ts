import { describe, expect, test, vi } from "vitest";
import { type Clock, systemClock } from "../../shared/clock.ts";
import { justBefore, onEvery } from "../helpers/faults/fault-proxy.ts";
import { unapplied } from "../helpers/faults/faults.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { cancelledBy, createOldTable, order } from "./old-orders.ts";

const tables = await createTestTables();
const { putOld, putNew, carry, newItems } = createOldTable(tables, "orders");

describe("carrying orders over", () => {
  test("cancels an order that someone else places as pending just before it does", async () => {
    await putOld(order(1, "cancelled", cancelledBy("key_a", "c1")));
    const theirs = order(1, "pending", { petId: { N: "7" } });
    const { target } = await tables.behindProxy(justBefore("PutItem", () => putNew(theirs)));
    const { json } = await carry({ client: target.client });
    expect(json).toMatchObject({ placed: 0, cancelled: 1 });
    expect(await newItems()).toEqual({
      1: { ...theirs, status: { S: "cancelled" }, ...cancelledBy("key_a", "c1") },
    });
  });

  test.each(["Scan", "GetItem", "UpdateItem", "PutItem"])(
    "waits for a throttled %s only until it is interrupted",
    async (name) => {
      await putOld(order(1, "shipped"), order(2, "pending"));
      await putNew(order(1, "pending"));
      const interrupted = new AbortController();
      vi.stubEnv("AWS_MAX_ATTEMPTS", "1");
      const { target } = await tables.behindProxy(
        onEvery(name, unapplied["throttled by the table"]),
      );
      const heeded = new Set<boolean | undefined>();
      const pause: Clock["pause"] = async (_milliseconds, signal) => {
        interrupted.abort();
        heeded.add(signal?.aborted);
        signal?.throwIfAborted();
      };
      const clock = { ...systemClock, pause };
      const { note } = await carry({ client: target.client, signal: interrupted.signal, clock });
      expect(note).toBe("Interrupted. The rest is not carried over yet.");
      expect(heeded).toEqual(new Set([true]));
    },
  );

  test("says how many orders it carried over before it was interrupted", async () => {
    await putOld(...Array.from({ length: 100 }, (_, id) => order(id, "shipped")));
    const interrupted = new AbortController();
    const { target } = await tables.behindProxy(({ operation }) => {
      if (operation === "PutItem") interrupted.abort();
      return undefined;
    });
    const result = await carry({ client: target.client, signal: interrupted.signal });
    expect(result).toMatchObject({
      text: expect.stringMatching(/^Carried over to \S+, then stopped: \d+ placed, /),
      json: { complete: false },
      note: "Interrupted. The rest is not carried over yet.",
      rejected: true,
    });
    const carried = Object.keys(await newItems()).length;
    expect(carried).toBeLessThan(100);
    expect(result.json).toMatchObject({ placed: carried, shipped: carried });
  });
});
