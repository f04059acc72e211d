import { randomUUID } from "node:crypto";
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
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

/** The fate of one order. */
const orderPlan = fc.record({
  /** Its status in the copy, or that the leaked key had cancelled it. */
  copied: fc.constantFrom("pending", "shipped", "cancelled", leakedKey),
  /** What was done to it wrongly after it was copied. */
  damage: fc.constantFrom(
    "none",
    "deleted",
    "overwritten",
    "without status",
    "revived",
    leakedKey,
    "quantity",
  ),
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
    ["pending", leakedKey, "reinstate cancel"],
    ["shipped", "revived", "reinstate"],
    ["cancelled", "without status", "delete"],
    ["pending", "deleted", "place ship"],
  ] as const
).map(([copied, damage, meanwhile]): [Plan[], number] => [
  [{ copied, damage, meanwhile, atTheLastMoment: true, fault: "none" }],
  0,
]);

const keyOf = (id: number) => ({ id: { N: String(id) } });
const put = (TableName: string, Item: OrderItem) =>
  client.send(new PutItemCommand({ TableName, Item }));
const remove = (id: number) =>
  client.send(new DeleteItemCommand({ TableName: live, Key: keyOf(id) }));
const hasEnded = (status = "") => status === "shipped" || status === "cancelled";

function newOrder(id: number, status: Plan["copied"]): OrderItem {
  const cancellation = {
    status: { S: "cancelled" },
    cancelledBy: { S: leakedKey },
    cancelledAt: { S: "2026-11-20T08:00:00Z" },
  };
  const order = { ...keyOf(id), status: { S: status }, quantity: { N: "1" } };
  return status === leakedKey ? { ...order, ...cancellation } : order;
}

async function damageOrder(id: number, { copied, damage }: Plan): Promise<void> {
  const order = newOrder(id, copied);
  const { status: _, ...withoutStatus } = order;
  if (damage === "deleted") await remove(id);
  if (damage === "overwritten") await put(live, { ...keyOf(id), status: { S: "?" } });
  if (damage === "without status") await put(live, withoutStatus);
  if (damage === "revived") await put(live, { ...order, status: { S: "pending" } });
  if (damage === "quantity") await put(live, { ...order, quantity: { N: "-7" } });
  if (damage === leakedKey) await isApplied(cancel(id, leakedKey));
}

const cancel = (id: number, cancelledBy: string) =>
  cancelOrder(client, live, {
    orderId: BigInt(id),
    cancelledBy,
    cancelledAt: new Date(),
    cancellationId: randomUUID(),
  });

/** Whether the order allowed it, which others then rely on. */
const isApplied = (doing: Promise<unknown>) =>
  doing.then(
    (isDone) => isDone !== false,
    (error) => {
      if (error instanceof ConditionalCheckFailedException || error instanceof ServiceError)
        return false;
      throw error;
    },
  );

const acts: Record<string, (id: number) => Promise<unknown>> = {
  ship: (id) => shipOrder(client, live, BigInt(id)),
  cancel: (id) => cancel(id, "key_a"),
  place: (id) =>
    client.send(
      new PutItemCommand({
        TableName: live,
        Item: newOrder(id, "pending"),
        ConditionExpression: "attribute_not_exists(id)",
      }),
    ),
  delete: remove,
  reinstate: (id) =>
    client.send(
      new UpdateItemCommand({
        TableName: live,
        Key: keyOf(id),
        UpdateExpression: "SET #status = :pending, reinstatedAt = :now",
        ConditionExpression: "#status IN (:pending, :shipped, :cancelled)",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: {
          ":pending": { S: "pending" },
          ":shipped": { S: "shipped" },
          ":cancelled": { S: "cancelled" },
          ":now": { S: new Date().toISOString() },
        },
      }),
    ),
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
    for (const name of this.#plans[id]?.meanwhile.split(" ") ?? []) {
      const act = acts[name];
      if (!act || !(await isApplied(act(id)))) continue;
      const { Item } = await client.send(new GetItemCommand({ TableName: live, Key: keyOf(id) }));
      this.#told.set(id, Item);
    }
  }

  /**
   * The order as others were told, if it ended or was reinstated, or else as it was copied, without
   * what the leaked key did. No design saves what was done to an order before it was deleted.
   */
  wanted(id: number, { copied, damage, meanwhile }: Plan): OrderItem {
    const order = newOrder(id, copied);
    const told = this.#told.get(id);
    if (told && (hasEnded(told["status"]?.S) || told["reinstatedAt"]))
      return isContradictory(copied, told) ? told : { ...told, quantity: { N: "1" } };
    const isDeleted = meanwhile.startsWith("delete");
    const wasCancelled = damage === leakedKey && copied === "pending" && !isDeleted;
    if (copied !== leakedKey && !wasCancelled) return order;
    return { ...newOrder(id, "pending"), reinstatedAt: expect.any(Object) };
  }
}

function isContradictory(copied: Plan["copied"], now: OrderItem): boolean {
  const was = newOrder(0, copied)["status"]?.S;
  const is = now["status"]?.S;
  return hasEnded(was) && hasEnded(is) && is !== was;
}

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
          await put(from, newOrder(id, plan.copied));
          await put(live, newOrder(id, plan.copied));
          await damageOrder(id, plan);
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
          expect(now).toEqual(new Map(plans.map((plan, id) => [id, meanwhile.wanted(id, plan)])));
          const contradictory = plans.filter(({ copied }, id) =>
            isContradictory(copied, now.get(id) ?? {}),
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
