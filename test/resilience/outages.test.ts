import { Socket } from "node:net";
import { expect, test, vi } from "vitest";
import { TableCalls } from "../../infra/tools/admin/table-calls.ts";
import { engineClient } from "../../infra/tools/running-stacks/engine-client.ts";
import { hashApiKey } from "../../shared/api-keys.ts";
import { callLimits, createClient } from "../../shared/dynamodb.ts";
import { cancelOrder } from "../../shared/orders-table.ts";
import { beforeTests } from "../helpers/before-tests.ts";
import { expectError } from "../helpers/expect-error.ts";
import {
  type Behaviour,
  type EngineCall,
  passOn,
} from "../helpers/faults/fault-proxy.ts";
import { applied, faults } from "../helpers/faults/faults.ts";
import { startFaultyStack } from "../helpers/faults/faulty-stack.ts";
import { ownLines } from "../helpers/trouble.ts";

/** By a text that a call's input contains: an order's id, or the hash of a key. */
const behaviours = new Map<string, Behaviour>();

function choose({ input }: EngineCall) {
  return [...behaviours].find(([text]) => input.includes(text))?.[1];
}

const stack = beforeTests((running) =>
  startFaultyStack(running, choose, { maxEnvironments: 4 }),
);

const cancel = (id: string, key?: string) =>
  stack.call(`/store/orders/${id}`, { method: "DELETE" }, key);

async function putOrderMeeting(behaviour: Behaviour, id: string) {
  await stack.putOrder({ id: { N: id }, status: { S: "pending" } });
  behaviours.set(`"${id}"`, behaviour);
}

const statusOf = async (id: string) => (await stack.order(id))?.["status"]?.S;

let nextId = 7000;

// Concurrent tests take these from vitest's context.
test.concurrent.for(Object.entries(faults))(
  "a cancellation whose every attempt meets %s fails with service_unavailable",
  async ([_name, fault], { expect, onTestFinished }) => {
    const id = String(nextId++);
    let attempts = 0;
    await putOrderMeeting((exchange) => {
      attempts += 1;
      return fault(exchange);
    }, id);
    const cancellation = {
      orderId: BigInt(id),
      cancelledBy: "key_1",
      cancelledAt: new Date(),
      cancellationId: "here",
    };
    // The function's own deadline is a second later.
    const deadline = AbortSignal.timeout(8_500);
    // Like that of the function that cancels.
    const client = createClient(callLimits.oneOrder, { endpoint: stack.proxy.endpoint });
    onTestFinished(() => client.destroy());
    const cancelling = cancelOrder(client, stack.tables.orders, cancellation, deadline);
    await expect(cancelling).rejects.toMatchObject({ code: "service_unavailable" });
    expect(attempts).toBeGreaterThan(0);
  },
);

/** One fault of each kind. */
const kinds = [
  "no response",
  "reset mid-body",
  "throttled by the table",
  "500 after the engine",
  "an empty response of no length",
];

test.concurrent.for(kinds)(
  "after %s, with 503 for a cancellation and 500, not 401, for a key, both can be repeated",
  async (name, { expect }) => {
    const fault = faults[name] ?? passOn;
    const id = String(nextId++);
    await putOrderMeeting(fault, id);
    const key = await stack.putKey();
    behaviours.set(hashApiKey(key), fault);
    const [cancelled, admitted] = await Promise.all([cancel(id), cancel("none", key)]);
    expectError(cancelled, "service_unavailable");
    expectError(admitted, "internal_error");

    behaviours.delete(`"${id}"`);
    behaviours.delete(hashApiKey(key));
    const wasApplied = (await statusOf(id)) === "cancelled";
    const again = await cancel(id);
    if (wasApplied) expectError(again, "order_already_cancelled");
    else expect(again.status).toBe(204);
    expect(await statusOf(id)).toBe("cancelled");
    expectError(await cancel("none", key), "order_not_found");
  },
);

// test/protocol goes through whatever else can happen between two attempts.
test("a cancellation whose response is lost twice gets a 204 all the same", async () => {
  const lost = [applied["reset after the engine"], applied["a status of a proxy"]];
  await putOrderMeeting((exchange) => {
    const behaviour = lost[exchange.attempt - 1] ?? passOn;
    return behaviour(exchange);
  }, "7998");
  expect((await cancel("7998")).status).toBe(204);
  expect(await statusOf("7998")).toBe("cancelled");
});

test("an operator's write whose response stops midway is repeated, and counts as its own", async () => {
  const real = Socket.prototype.setTimeout;
  // A hundredth of the limit, which is half a minute.
  using _limit = vi.spyOn(Socket.prototype, "setTimeout").mockImplementation(function (
    this: Socket,
    milliseconds,
    callback,
  ) {
    return real.call(this, milliseconds / 100, callback);
  });
  const operator = engineClient(stack.proxy.endpoint);
  const Item = { id: { N: "7997" } };
  behaviours.set('"7997"', (exchange) =>
    (exchange.attempt === 1 ? applied["silence mid-body"] : passOn)(exchange),
  );
  const { orders } = stack.tables;
  const onDoubt = vi.fn();
  const found = await new TableCalls(operator).insert(orders, "id", Item, onDoubt);
  operator.destroy();
  expect(found).toBeUndefined();
  expect(onDoubt).toHaveBeenCalledOnce();
});

test("an engine that rejects connections fails every request until it accepts some", async () => {
  const key = await stack.putKey();
  // In the authorizer's cache only now, so for its whole time.
  const cached = await stack.putKey();
  await putOrderMeeting(passOn, "7999");
  expectError(await cancel("none", cached), "order_not_found");
  await stack.proxy.rejectConnections();
  const failing = [
    cancel("7999", cached),
    stack.call("/store/orders", {}, cached),
    cancel("7999", key),
  ];
  const responses = await Promise.all(failing).finally(stack.proxy.accept);
  const codes = responses.map(({ body }) => JSON.parse(body).code);
  expect(codes).toEqual(["service_unavailable", "service_unavailable", "internal_error"]);

  // The other key was not there, and still isn't.
  expect((await cancel("7999", key)).status).toBe(204);
  expect((await stack.call("/store/orders")).status).toBe(200);
});

test("no outage made a function crash or time out, and each failure was logged once", async () => {
  expect(ownLines(stack.log)).toEqual([]);
  // Those of the engine that rejected connections are among them.
  const failures = kinds.length + 1;
  const logged = () =>
    ["cancel_failed", "authorize_failed"].map((event) => stack.events(event).length);
  await expect.poll(logged).toEqual([failures, failures]);
});
