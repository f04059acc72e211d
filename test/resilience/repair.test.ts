import { randomUUID } from "node:crypto";
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { reinstate } from "../../infra/admin/reinstate-orders.ts";
import { repair } from "../../infra/admin/repair.ts";
import { orderRules } from "../../infra/admin/repair-rules.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { createTable } from "../helpers/create-table.ts";
import { type Behaviour, passOn, startFaultProxy } from "../helpers/faults/fault-proxy.ts";
import { applied, unapplied } from "../helpers/faults/faults.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { shipOrder } from "./ship-order.ts";

const tables = await createTestTables();
const { client } = tables;
const live = tables.tables.orders;

const faults: Record<string, Behaviour> = {
  none: passOn,
  "response lost": applied["reset after the engine"],
  "request lost": unapplied["reset before a response"],
};

const leakedKey = "key_leaked";

/** The status of an order, and whether the leaked key cancelled it. */
const statuses = ["pending", "shipped", "cancelled", leakedKey] as const;
const damages = [
  "none",
  "deleted",
  "overwritten",
  "without status",
  "revived",
  leakedKey,
  "quantity",
] as const;
type Action = "ship" | "cancel" | "place" | "delete" | "set back";
const histories: Action[][] = [
  [],
  ["ship"],
  ["cancel"],
  ["place"],
  ["place", "ship"],
  ["delete"],
  ["delete", "place"],
  ["set back"],
  ["set back", "ship"],
  ["set back", "cancel"],
];

/** The fate of one order. */
const orderPlan = fc.record({
  copied: fc.constantFrom(...statuses),
  /** What was done to it wrongly after it was copied. */
  damage: fc.constantFrom(...damages),
  /** What others do to it after the damage, and whether that comes just before it is mended. */
  meanwhile: fc.constantFrom(...histories),
  atTheLastMoment: fc.boolean(),
  fault: fc.constantFrom(...Object.keys(faults)),
});
type Plan = typeof orderPlan extends fc.Arbitrary<infer Value> ? Value : never;

/** What random histories seldom have: something else is done just before each kind of write. */
const atTheLastMoment: Omit<Plan, "atTheLastMoment">[] = [
  { copied: "pending", damage: leakedKey, meanwhile: ["set back", "cancel"], fault: "none" },
  { copied: "shipped", damage: "revived", meanwhile: ["set back"], fault: "none" },
  { copied: "cancelled", damage: "without status", meanwhile: ["delete"], fault: "none" },
  { copied: "pending", damage: "deleted", meanwhile: ["place", "ship"], fault: "none" },
];

const keyOf = (id: number) => ({ id: { N: String(id) } });
const put = (TableName: string, Item: OrderItem) =>
  client.send(new PutItemCommand({ TableName, Item }));
const remove = (id: number) =>
  client.send(new DeleteItemCommand({ TableName: live, Key: keyOf(id) }));
const statusOf = (order: OrderItem | undefined) => order?.["status"]?.S ?? "";
const hasEnded = (status: string) => status === "shipped" || status === "cancelled";

function newOrder(id: number, status: Plan["copied"]): OrderItem {
  const cancelledBy = { cancelledBy: { S: leakedKey }, cancelledAt: { S: "2026-11-20T08:00:00Z" } };
  return {
    ...keyOf(id),
    status: { S: status === leakedKey ? "cancelled" : status },
    quantity: { N: "1" },
    ...(status === leakedKey && cancelledBy),
  };
}

async function damageOrder(id: number, { copied, damage }: Plan): Promise<void> {
  const order = newOrder(id, copied);
  const { status: _, ...withoutStatus } = order;
  if (damage === "deleted") await remove(id);
  if (damage === "overwritten") await put(live, { ...keyOf(id), status: { S: "?" } });
  if (damage === "without status") await put(live, withoutStatus);
  if (damage === "revived") await put(live, { ...order, status: { S: "pending" } });
  if (damage === "quantity") await put(live, { ...order, quantity: { N: "-7" } });
  if (damage === leakedKey) await cancel(id, leakedKey);
}

/** Each resolves with whether the order allowed it, which others then rely on. */
const act: Record<Action, (id: number) => Promise<boolean>> = {
  ship: (id) => shipOrder(client, live, BigInt(id)),
  cancel: (id) => cancel(id, "key_a"),
  place: (id) =>
    isApplied(
      new PutItemCommand({
        TableName: live,
        Item: newOrder(id, "pending"),
        ConditionExpression: "attribute_not_exists(id)",
      }),
    ),
  delete: async (id) => {
    await remove(id);
    return true;
  },
  "set back": (id) =>
    isApplied(
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

async function isApplied(command: PutItemCommand | UpdateItemCommand): Promise<boolean> {
  try {
    await client.send(command as PutItemCommand);
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

async function cancel(id: number, keyId: string): Promise<boolean> {
  const cancellation = {
    cancelledBy: keyId,
    cancelledAt: new Date(),
    cancellationId: randomUUID(),
  };
  try {
    await cancelOrder(client, live, { orderId: BigInt(id), ...cancellation });
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

async function ordersById(): Promise<Map<number, OrderItem>> {
  const orders = await tables.items("orders");
  return new Map(orders.map((order) => [Number(order["id"]?.N), order]));
}

/** What others do meanwhile, once to each order. */
class Meanwhile {
  /** The orders as others were told that they are. */
  readonly acknowledged = new Map<number, OrderItem>();
  readonly deleted = new Set<number>();
  readonly #plans: Plan[];
  readonly #done = new Set<number>();

  constructor(plans: Plan[]) {
    this.#plans = plans;
  }

  async act(id: number): Promise<void> {
    if (this.#done.has(id)) return;
    this.#done.add(id);
    for (const action of this.#plans[id]?.meanwhile ?? []) {
      if (!(await act[action](id))) continue;
      const { Item: order } = await client.send(
        new GetItemCommand({ TableName: live, Key: keyOf(id) }),
      );
      if (order) this.acknowledged.set(id, order);
      // No design saves what was done to an order before it was damaged.
      else this.acknowledged.delete(id);
      if (action === "delete") this.deleted.add(id);
    }
  }

  /**
   * The orders as others were told, if they ended or were set back, or else as they were copied,
   * without what the leaked key did.
   */
  wanted(): Map<number, OrderItem> {
    return new Map(this.#plans.map((plan, id) => [id, this.#wantedOrder(plan, id)]));
  }

  #wantedOrder({ copied, damage }: Plan, id: number): OrderItem {
    const order = newOrder(id, copied);
    const told = this.acknowledged.get(id);
    if (told && (hasEnded(statusOf(told)) || told["reinstatedAt"])) {
      const { quantity = { N: "1" } } = order;
      return isContradictory(order, told) ? told : { ...told, quantity };
    }
    const wasCancelled = damage === leakedKey && copied === "pending" && !this.deleted.has(id);
    if (copied !== leakedKey && !wasCancelled) return order;
    return { ...newOrder(id, "pending"), reinstatedAt: expect.any(Object) };
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

function isContradictory(copied: OrderItem, now: OrderItem | undefined): boolean {
  const [was, is] = [statusOf(copied), statusOf(now)];
  return hasEnded(was) && hasEnded(is) && is !== was;
}

test("mending orders loses nothing that was acknowledged, and mends everything else", async () => {
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => void vi.restoreAllMocks());
  await fc.assert(
    fc.asyncProperty(
      fc.array(orderPlan, { minLength: 1, maxLength: 6 }),
      fc.nat({ max: 12 }),
      async (plans, interruptedAt) => {
        await tables.empty();
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

        const interrupted = new AbortController();
        const proxy = await startWriteFaults(plans, meanwhile, interruptedAt, interrupted);
        const proxied = engineClient(proxy.endpoint);
        const calls = new TableCalls(proxied);
        const shared = { reads: calls, writes: calls, dryRun: false, asJson: false };
        const mend = async ({ signal }: AbortController) => {
          const leaked = { cancelledBy: leakedKey, since: new Date(0) };
          await reinstate({ table: live, ...leaked, ...shared, signal });
          return repair({ from, live, rules: orderRules(["quantity"]), ...shared, signal });
        };
        try {
          await mend(interrupted);
          await mend(new AbortController());
          // What the leaked key had cancelled before the copy is mended before it is reinstated.
          const last = await mend(new AbortController());

          const now = await ordersById();
          expect(now).toEqual(meanwhile.wanted());
          const contradictory = plans.filter(({ copied }, id) =>
            isContradictory(newOrder(id, copied), now.get(id)),
          );
          expect(last.json).toMatchObject({
            complete: true,
            placed: 0,
            mended: 0,
            contradictory: contradictory.length,
          });
        } finally {
          proxied.destroy();
          await proxy.stop();
        }
      },
    ),
    {
      numRuns: 100,
      examples: atTheLastMoment.map((plan) => [[{ ...plan, atTheLastMoment: true }], 0]),
    },
  );
});
