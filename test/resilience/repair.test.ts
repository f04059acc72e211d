import { randomUUID } from "node:crypto";
import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ServiceError } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { createTerminal, run } from "../admin/terminal.ts";
import { createTable } from "../helpers/create-table.ts";
import { type Behaviour, passOn, startFaultProxy } from "../helpers/faults/fault-proxy.ts";
import { applied, unapplied } from "../helpers/faults/faults.ts";
import { shipOrder } from "./ship-order.ts";

const { client, dynamodbEndpoint, empty, items, pointTo, putKey, stackAt, tables } =
  await createTerminal();
const live = tables.orders;

const faults: Record<string, Behaviour> = {
  none: passOn,
  "response lost": applied["reset after the engine"],
  "request lost": unapplied["reset before a response"],
};

const leakedKey = "key_1eaced1eaced1eac";
const leaked = {
  status: { S: "cancelled" },
  cancelledBy: { S: leakedKey },
  cancelledAt: { S: "2026-11-20T08:00:00Z" },
};

/** What was done to an order wrongly after it was copied. */
const damages: Record<string, (order: OrderItem) => OrderItem | undefined> = {
  none: (order) => order,
  deleted: () => undefined,
  overwritten: ({ id = { N: "" } }) => ({ id, status: { S: "?" } }),
  "without status": ({ status: _, ...order }) => order,
  revived: (order) => ({ ...order, status: { S: "pending" } }),
  leaked: (order) => (statusOf(order) === "pending" ? { ...order, ...leaked } : order),
  quantity: (order) => ({ ...order, quantity: { N: "-7" } }),
};

/** The fate of one order. */
const orderPlan = fc.record({
  /** Its status in the copy, or that the leaked key had cancelled it. */
  copied: fc.constantFrom("pending", "shipped", "cancelled", "leaked"),
  damage: fc.constantFrom(...Object.keys(damages)),
  /** What others do to it after the damage, and whether that comes just before it is mended. */
  meanwhile: fc.constantFrom(
    "",
    "ship",
    "cancel",
    "place",
    "place ship",
    "delete",
    "delete place",
    "reinstate",
    "reinstate ship",
    "reinstate cancel",
  ),
  atTheLastMoment: fc.boolean(),
  fault: fc.constantFrom(...Object.keys(faults)),
});
type Plan = typeof orderPlan extends fc.Arbitrary<infer Value> ? Value : never;

/** What random plans seldom have: something else is done just before each kind of write. */
const examples = (
  [
    ["pending", "leaked", "reinstate cancel"],
    ["shipped", "revived", "reinstate"],
    ["cancelled", "without status", "delete"],
    ["pending", "deleted", "place ship"],
  ] as const
).map(([copied, damage, meanwhile]): [Plan[], number] => [
  [{ copied, damage, meanwhile, atTheLastMoment: true, fault: "none" }],
  0,
]);

const statusOf = (order: OrderItem | undefined) => order?.["status"]?.S ?? "";
const hasEnded = (order: OrderItem | undefined) =>
  /^(shipped|cancelled)$/.test(statusOf(order));

function newOrder(id: number, status: Plan["copied"]): OrderItem {
  const order = { id: { N: String(id) }, status: { S: status }, quantity: { N: "1" } };
  return status === "leaked" ? { ...order, ...leaked } : order;
}

const put = (TableName: string, Item: OrderItem) =>
  client.send(new PutItemCommand({ TableName, Item }));
const keyIn = (TableName: string, id: number) => ({
  TableName,
  Key: { id: { N: String(id) } },
});
const get = async (id: number) =>
  (await client.send(new GetItemCommand(keyIn(live, id)))).Item;

/** What others do to an order. Each resolves with false if the order didn't allow it. */
const acts: Record<string, (id: number) => Promise<unknown>> = {
  ship: (id) => shipOrder(client, live, BigInt(id)),
  cancel: (id) => {
    const cancellation = { cancelledAt: new Date(), cancellationId: randomUUID() };
    const request = { orderId: BigInt(id), cancelledBy: "key_a", ...cancellation };
    return cancelOrder(client, live, request).catch((error) => {
      if (error instanceof ServiceError) return false;
      throw error;
    });
  },
  place: async (id) => !(await get(id)) && (await put(live, newOrder(id, "pending"))),
  delete: (id) => client.send(new DeleteItemCommand(keyIn(live, id))),
  reinstate: async (id) => {
    const order = await get(id);
    if (!hasEnded(order) && statusOf(order) !== "pending") return false;
    const reinstatedAt = { S: new Date().toISOString() };
    return await put(live, { ...order, status: { S: "pending" }, reinstatedAt });
  },
};

/** What others do meanwhile, once to each order. */
class Meanwhile {
  readonly #plans: Plan[];
  readonly #done = new Set<number>();
  /** The orders as others were told that they are, or that they are deleted. */
  readonly #told = new Map<number, OrderItem | undefined>();

  constructor(plans: Plan[]) {
    this.#plans = plans;
  }

  async act(id: number): Promise<void> {
    if (this.#done.has(id)) return;
    this.#done.add(id);
    for (const name of this.#plans[id]?.meanwhile.split(" ") ?? [])
      if (acts[name] && (await acts[name](id)) !== false) this.#told.set(id, await get(id));
  }

  /**
   * The order as others were told, if it ended or was reinstated, or else as it was copied, without
   * what the leaked key did. No design saves what was done to an order before it was deleted.
   */
  wanted(id: number, { copied, damage, meanwhile }: Plan): OrderItem {
    const order = newOrder(id, copied);
    const told = this.#told.get(id);
    if (told && (hasEnded(told) || told["reinstatedAt"]))
      return isContradictory(order, told) ? told : { ...told, quantity: { N: "1" } };
    const isDeleted = meanwhile.startsWith("delete");
    const wasCancelled = damage === "leaked" && copied === "pending" && !isDeleted;
    if (copied !== "leaked" && !wasCancelled) return order;
    return { ...newOrder(id, "pending"), reinstatedAt: expect.any(Object) };
  }
}

const isContradictory = (copied: OrderItem, now: OrderItem | undefined) =>
  hasEnded(copied) && hasEnded(now) && statusOf(now) !== statusOf(copied);

/** Gives each order's first write its fault. */
function startWriteFaults(plans: Plan[], meanwhile: Meanwhile, onWrite: () => void) {
  return startFaultProxy(dynamodbEndpoint, ({ operation, input, attempt }) => {
    if (!/^(Put|Update)Item$/.test(operation)) return undefined;
    onWrite();
    const { Item, Key = Item } = JSON.parse(input);
    const id = Number(Key.id.N);
    const fault = faults[plans[id]?.fault ?? "none"] ?? passOn;
    return async (exchange) => {
      await meanwhile.act(id);
      await (attempt === 1 ? fault : passOn)(exchange);
    };
  });
}

/** Reinstates what the leaked key cancelled, and repairs the rest. Returns the counts. */
async function mend(from: string) {
  await run(`orders reinstate --local --cancelled-by ${leakedKey} --since 1970-01-01`);
  const repair = `orders repair --local --from ${from} --fields quantity --json`;
  const { stdout } = await run(repair);
  return JSON.parse(stdout.split("\n").at(-2) ?? "");
}

test("mending orders loses nothing that was acknowledged, and mends everything else", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(orderPlan, { minLength: 1, maxLength: 6 }),
      fc.nat({ max: 12 }),
      async (plans, interruptedAt) => {
        await empty();
        await putKey({ keyId: leakedKey });
        const from = `Copy-${randomUUID()}`;
        await createTable(client, "orders", from);
        const meanwhile = new Meanwhile(plans);
        const begin = async (plan: Plan, id: number): Promise<void> => {
          const order = newOrder(id, plan.copied);
          await put(from, order);
          const damaged = damages[plan.damage]?.(order);
          if (damaged) await put(live, damaged);
          if (!plan.atTheLastMoment) await meanwhile.act(id);
        };
        await Promise.all(plans.map(begin));

        let writes = 0;
        let isFirst = true;
        const interrupt = (): void => {
          if (++writes === interruptedAt && isFirst) process.emit("SIGINT");
        };
        const proxy = await startWriteFaults(plans, meanwhile, interrupt);
        await pointTo(stackAt(proxy.endpoint));
        try {
          await mend(from);
          isFirst = false;
          await mend(from);
          // What the leaked key had cancelled before the copy is mended before it is reinstated.
          const last = await mend(from);

          const orders = await items("orders");
          const now = new Map(orders.map((order) => [Number(order["id"]?.N), order]));
          expect(now).toEqual(
            new Map(plans.map((plan, id) => [id, meanwhile.wanted(id, plan)])),
          );
          const contradictory = plans.filter(({ copied }, id) =>
            isContradictory(newOrder(id, copied), now.get(id)),
          ).length;
          const counts = { complete: true, placed: 0, mended: 0, contradictory };
          expect(last).toMatchObject(counts);
        } finally {
          await proxy.stop();
        }
      },
    ),
    { numRuns: 100, examples },
  );
});
