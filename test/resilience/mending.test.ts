import { randomUUID } from "node:crypto";
import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { seedOrders } from "../../infra/tools/local/engine/tables.ts";
import { batches } from "../../infra/tools/orders-file/batches.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { shipOrder } from "../../shared/recipes/write-orders.ts";
import { createTable } from "../helpers/create-table.ts";
import {
  type Behaviour,
  type EngineCall,
  passOn,
  startFaultProxy,
} from "../helpers/faults/fault-proxy.ts";
import { applied, unapplied } from "../helpers/faults/faults.ts";
import { createTerminal } from "../tools/admin/terminal.ts";
import { run } from "../tools/run.ts";

const terminal = await createTerminal();
const { client, dynamodbEndpoint, empty, items, pointTo, putKey, stackAt } = terminal;
const documents = DynamoDBDocumentClient.from(client);
const live = terminal.tables.orders;

const leakedKey = "key_1eaced1eaced1eac";
const leaked = {
  status: { S: "cancelled" },
  cancelledBy: { S: leakedKey },
  cancelledAt: { S: "2026-11-20T08:00:00Z" },
};
const reinstate = `orders reinstate --cancelled-by ${leakedKey} --since 1970-01-01`;

/** What went wrong with an order after it was copied. */
const damages: Record<string, (order: OrderItem) => OrderItem | undefined> = {
  none: (order) => order,
  deleted: () => undefined,
  overwritten: ({ id = { N: "" } }) => ({ id, status: { S: "?" } }),
  "without status": ({ status: _, ...order }) => order,
  revived: (order) => ({ ...order, status: { S: "pending" } }),
  leaked: (order) => (statusOf(order) === "pending" ? { ...order, ...leaked } : order),
  quantity: (order) => ({ ...order, quantity: { N: "-7" } }),
};

const statusOf = (order: OrderItem | undefined) => order?.["status"]?.S ?? "";
const hasEnded = (order: OrderItem | undefined) =>
  /^(shipped|cancelled)$/.test(statusOf(order));
/** Whether an order ended otherwise than its copy, which was not reinstated in between. */
const isContradictory = (copied: OrderItem, now: OrderItem | undefined) =>
  hasEnded(copied) &&
  hasEnded(now) &&
  statusOf(now) !== statusOf(copied) &&
  (now?.["reinstatedAt"]?.S ?? "") < (copied["cancelledAt"]?.S ?? "never");

function newOrder(id: number, status: string) {
  const order = { id: { N: String(id) }, status: { S: status }, quantity: { N: "1" } };
  return status === "leaked" ? { ...order, ...leaked } : order;
}

const put = (Item: OrderItem) =>
  client.send(new PutItemCommand({ TableName: live, Item }));
const keyOf = (id: number) => ({ TableName: live, Key: { id: { N: String(id) } } });
const get = async (id: number) => (await client.send(new GetItemCommand(keyOf(id)))).Item;
const orderOfEachId = async () =>
  new Map((await items("orders")).map((order) => [Number(order["id"]?.N), order]));

/** Begins a history with the leaked key, a copy of the table, and what the damage has left. */
async function beginDamaged(plans: Plan[]) {
  told.clear();
  await empty();
  await putKey({ keyId: leakedKey });
  const copy = `Copy-${randomUUID()}`;
  await createTable(client, "orders", copy);
  const copied = plans.map((plan, id) => newOrder(id, plan.copied));
  const left = copied
    .map((order, id) => damages[plans[id]?.damage ?? ""]?.(order))
    .filter((order) => order !== undefined);
  const { signal } = new AbortController();
  await seedOrders(client, copy, batches(copied), signal);
  await seedOrders(client, live, batches(left), signal);
  return copy;
}

/** What others do to an order. Each resolves with false if the order didn't allow it. */
const acts: Record<string, (id: number) => Promise<unknown>> = {
  ship: async (id) => {
    const now = new Date().toISOString();
    return (
      (await shipOrder(documents, live, BigInt(id), randomUUID(), now)) === "shipped"
    );
  },
  cancel: (id) =>
    cancelOrder(client, live, {
      orderId: BigInt(id),
      cancelledBy: "key_a",
      cancelledAt: new Date(),
      cancellationId: randomUUID(),
    }).catch((error) => {
      if (error instanceof ServiceError) return false;
      throw error;
    }),
  place: async (id) => !(await get(id)) && (await put(newOrder(id, "pending"))),
  delete: (id) => client.send(new DeleteItemCommand(keyOf(id))),
  reinstate: async (id) => {
    const order = await get(id);
    if (!hasEnded(order) && statusOf(order) !== "pending") return false;
    const reinstatedAt = { S: new Date().toISOString() };
    return await put({ ...order, status: { S: "pending" }, reinstatedAt });
  },
};

/** The orders as others were told that they are, or that they are deleted. */
const told = new Map<number, OrderItem | undefined>();

async function act(name: string, id: number) {
  if (acts[name] && (await acts[name](id)) !== false) told.set(id, await get(id));
}

const countsOf = (stdout: string) => JSON.parse(stdout.split("\n").at(-2) ?? "");

const faults: Record<string, Behaviour> = {
  none: passOn,
  "response lost": applied["reset after the engine"],
  "request lost": unapplied["reset before a response"],
};

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

/** What random plans seldom have: something happens just before each kind of write. */
const soon = { atTheLastMoment: true, fault: "none" };
const lastMoments: Plan[] = [
  { copied: "pending", damage: "leaked", meanwhile: "reinstate cancel", ...soon },
  { copied: "leaked", damage: "none", meanwhile: "reinstate ship", ...soon },
  { copied: "shipped", damage: "revived", meanwhile: "reinstate", ...soon },
  { copied: "cancelled", damage: "without status", meanwhile: "delete", ...soon },
  { copied: "pending", damage: "deleted", meanwhile: "place ship", ...soon },
];

/**
 * The order as others were told, if it ended or was reinstated, or else as it was copied, without
 * what the leaked key did. No design saves what was done to an order before it was deleted.
 */
function wanted({ copied, damage, meanwhile }: Plan, id: number) {
  const order = newOrder(id, copied);
  const now = told.get(id);
  if (now && (hasEnded(now) || now["reinstatedAt"]))
    return isContradictory(order, now) ? now : { ...now, quantity: { N: "1" } };
  const isDeleted = meanwhile.startsWith("delete");
  const wasCancelled = damage === "leaked" && copied === "pending" && !isDeleted;
  if (copied !== "leaked" && !wasCancelled) return order;
  return { ...newOrder(id, "pending"), reinstatedAt: expect.any(Object) };
}

async function mend(copy: string) {
  await run(`${reinstate} --local`);
  const repair = `orders repair --local --from ${copy} --fields quantity --json`;
  return countsOf((await run(repair)).stdout);
}

async function mendAsPlanned(plans: Plan[], interruptedAt: number) {
  const copy = await beginDamaged(plans);
  const done = new Set<number>();
  const actOn = async (id: number) => {
    if (done.has(id)) return;
    done.add(id);
    for (const name of plans[id]?.meanwhile.split(" ") ?? []) await act(name, id);
  };
  await Promise.all(plans.map((plan, id) => !plan.atTheLastMoment && actOn(id)));

  let writesUntilInterrupted = interruptedAt;
  /** Gives each order's first write its fault. */
  const onCall = ({ operation, input, attempt }: EngineCall): Behaviour | undefined => {
    if (!/^(Put|Update)Item$/.test(operation)) return undefined;
    if (--writesUntilInterrupted === 0) process.emit("SIGINT");
    const { Item, Key = Item } = JSON.parse(input);
    const id = Number(Key.id.N);
    const fault = faults[plans[id]?.fault ?? "none"] ?? passOn;
    return async (exchange) => {
      await actOn(id);
      await (attempt === 1 ? fault : passOn)(exchange);
    };
  };
  const proxy = await startFaultProxy(dynamodbEndpoint, onCall);
  await pointTo(stackAt(proxy.endpoint));
  try {
    await mend(copy);
    writesUntilInterrupted = 0;
    await mend(copy);
    // What the leaked key had cancelled before the copy is mended before it is reinstated.
    const last = await mend(copy);

    const now = await orderOfEachId();
    expect(now).toEqual(new Map(plans.map((plan, id) => [id, wanted(plan, id)])));
    const contradictory = plans.filter(({ copied }, id) =>
      isContradictory(newOrder(id, copied), now.get(id)),
    ).length;
    expect(last).toMatchObject({ complete: true, placed: 0, repaired: 0, contradictory });
  } finally {
    await proxy.stop();
  }
}

test("mending orders loses nothing that was acknowledged, and mends everything else", () => {
  // Orders have nothing to do with each other, so a run shows as many histories as it has orders.
  const plans = fc.array(orderPlan, { minLength: 1, maxLength: 24, size: "max" });
  return fc.assert(fc.asyncProperty(plans, fc.nat({ max: 30 }), mendAsPlanned), {
    numRuns: 15,
    examples: [[lastMoments, 0]],
  });
});
