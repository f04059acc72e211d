import { afterAll, beforeAll, expect, test } from "vitest";
import type { HttpResponse } from "../../infra/smoke/client.ts";
import { hashApiKey } from "../../shared/api-keys.ts";
import { bundled } from "../helpers/bundled/bundled.ts";
import { expectError } from "../helpers/expect-error.ts";
import { type Behaviour, type EngineCall, passOn } from "../helpers/faults/fault-proxy.ts";
import { applied, faults } from "../helpers/faults/faults.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";
import { functionProcesses } from "../helpers/processes.ts";
import { ownLines } from "../helpers/trouble.ts";

/** The behaviour of calls whose input contains a text: an order's id, or the hash of a key. */
const behaviours = new Map<string, Behaviour>();

function choose({ input }: EngineCall): Behaviour | undefined {
  for (const [text, behaviour] of behaviours) if (input.includes(text)) return behaviour;
  return undefined;
}

let stack: FaultyStack;
/** A client like that of the function that cancels, in this process. */
const client = bundled.createClient(bundled.callLimits.oneOrder);
const { AWS_ENDPOINT_URL_DYNAMODB: closedEndpoint } = process.env;
beforeAll(async () => {
  stack = await startFaultyStack(choose, { maxEnvironments: 4, clock: { now: () => 0 } });
  // Puts the stack's own key into the authorizer's cache, where it stays: the clock stands still.
  expectError(
    await stack.call("/store/orders/none", { method: "DELETE" }),
    "order_not_found",
  );
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = stack.proxy.endpoint;
});
afterAll(async () => {
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = closedEndpoint;
  client.destroy();
  await stack?.stop();
});

const cancel = (id: string, key?: string): Promise<HttpResponse> =>
  stack.call(`/store/orders/${id}`, { method: "DELETE" }, key);

// Concurrent tests take their `expect` from vitest's context.
test.concurrent.for(Object.entries(faults))(
  "a cancellation whose every attempt meets %s fails with service_unavailable",
  async ([name, fault], { expect }) => {
    const id = 7100 + Object.keys(faults).indexOf(name);
    await stack.putOrder({ id: { N: String(id) }, status: { S: "pending" } });
    behaviours.set(`"${id}"`, fault);
    const cancellation = {
      orderId: BigInt(id),
      cancelledBy: "key_1",
      cancelledAt: new Date(),
      cancellationId: "here",
    };
    // The function's own deadline is a second later.
    const deadline = AbortSignal.timeout(8_500);
    const cancelling = bundled.cancelOrder(
      client,
      stack.tables.orders,
      cancellation,
      deadline,
    );
    await expect(cancelling).rejects.toMatchObject({ code: "service_unavailable" });
    const status = (await stack.order(String(id)))?.["status"]?.S;
    expect(["pending", "cancelled"]).toContain(status);
  },
);

/**
 * One fault of each kind: no response, a broken one, a rejection, a failure, and one that looks
 * whole.
 */
const kinds = [
  "no response",
  "reset mid-body",
  "throttled by the table",
  "500 after the engine",
  "an empty response of no length",
];
const oneOfEachKind = Object.entries(faults).filter(([name]) => kinds.includes(name));

test.concurrent.for(oneOfEachKind)(
  "a cancellation that got a 503 because of %s can be repeated",
  async ([name, fault], { expect }) => {
    const id = String(7000 + kinds.indexOf(name));
    await stack.putOrder({ id: { N: id }, status: { S: "pending" } });
    behaviours.set(`"${id}"`, fault);
    expectError(await cancel(id), "service_unavailable");
    behaviours.delete(`"${id}"`);
    const wasApplied = (await stack.order(id))?.["status"]?.S === "cancelled";
    const again = await cancel(id);
    if (wasApplied) expectError(again, "order_already_cancelled");
    else expect(again.status).toBe(204);
    expect((await stack.order(id))?.["status"]).toEqual({ S: "cancelled" });
  },
);

test.concurrent.for(oneOfEachKind)(
  "a valid key that got a 500, not a 401, because of %s works again afterwards",
  async ([, fault], { expect }) => {
    const key = await stack.putKey();
    behaviours.set(hashApiKey(key), fault);
    expectError(await cancel("none", key), "internal_error");
    behaviours.delete(hashApiKey(key));
    expect((await cancel("none", key)).status).toBe(404);
  },
);

// test/protocol goes through whatever else can happen between two attempts.
test("a cancellation whose response is lost twice gets a 204 all the same", async () => {
  await stack.putOrder({ id: { N: "7998" }, status: { S: "pending" } });
  behaviours.set('"7998"', (exchange) => {
    const behaviour = exchange.attempt < 3 ? applied["reset after the engine"] : passOn;
    return behaviour(exchange);
  });
  expect((await cancel("7998")).status).toBe(204);
  expect(await stack.order("7998")).toMatchObject({ status: { S: "cancelled" } });
});

test("an engine that rejects connections fails every request, and ends no process", async () => {
  const key = await stack.putKey();
  await stack.putOrder({ id: { N: "7999" }, status: { S: "pending" } });
  expect((await stack.call("/store/orders")).status).toBe(200);
  const before = await functionProcesses();
  const names = new Set(before.map(({ name }) => name));
  expect(names).toEqual(new Set(["ListOrders", "CancelOrder", "Authorize"]));

  await stack.proxy.rejectConnections();
  const failing = [cancel("7999"), stack.call("/store/orders"), cancel("7999", key)];
  const responses = await Promise.all(failing).finally(stack.proxy.accept);
  const codes = ["service_unavailable", "service_unavailable", "internal_error"] as const;
  for (const [index, response] of responses.entries())
    expectError(response, codes[index] ?? "bad_request");

  // Its key was not in the authorizer's cache, and still isn't.
  expect((await cancel("7999", key)).status).toBe(204);
  expect((await stack.call("/store/orders")).status).toBe(200);
  expect(await functionProcesses()).toEqual(before);
});

test("no outage made a function crash or time out, and each failure was logged once", async () => {
  expect(ownLines(stack.log)).toEqual([]);
  // Those of the engine that rejected connections are among them.
  const failures = kinds.length + 1;
  const logged = (): number[] =>
    ["cancel_failed", "authorize_failed"].map((event) => stack.events(event).length);
  await expect.poll(logged).toEqual([failures, failures]);
});
