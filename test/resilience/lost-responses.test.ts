import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HttpResponse } from "../../infra/smoke/response-problems.ts";
import { expectError } from "../helpers/expect-error.ts";
import type { Behaviour, EngineCall } from "../helpers/faults/fault-proxy.ts";
import { applied, unnoticed } from "../helpers/faults/faults.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";
import type { RequestOptions } from "../helpers/send.ts";

/** The fates of the attempts to cancel an order, by the order's id. */
const attempts = new Map<string, (call: EngineCall) => Behaviour | undefined>();
let stack: FaultyStack;
beforeAll(async () => {
  stack = await startFaultyStack((call) => attempts.get(/"id":\{"N":"(\d+)"\}/.exec(call.input)?.[1] ?? "")?.(call), {
    maxEnvironments: 4,
  });
  // Admitted once, the key stays in the authorizer's cache: one process is enough.
  await cancel("none");
});
afterAll(() => stack?.stop());

let lastId = 8000;
async function pendingOrder(): Promise<string> {
  lastId += 1;
  const id = String(lastId);
  await stack.putOrder({ id: { N: id }, status: { S: "pending" } });
  return id;
}

const cancel = (id: string, options: RequestOptions = {}): Promise<HttpResponse> =>
  stack.call(`/store/orders/${id}`, { ...options, method: "DELETE" });

/** The first attempt meets the behaviour; the others pass. */
const first =
  (behaviour: Behaviour) =>
  ({ attempt }: EngineCall): Behaviour | undefined =>
    attempt === 1 ? behaviour : undefined;

describe.concurrent("a cancellation", () => {
  // A trickle leaves no time for a second attempt; outages.test.ts covers it.
  const { "slow trickle": _, ...losses } = { ...applied, ...unnoticed };
  test.each(Object.entries(losses))("whose response is lost by %s gets a 204 all the same", async (_, fault) => {
    const id = await pendingOrder();
    attempts.set(id, first(fault));
    expect((await cancel(id)).status).toBe(204);
    expect(await stack.order(id)).toMatchObject({ status: { S: "cancelled" } });
  });

  test("whose response is lost twice gets a 204", async () => {
    const id = await pendingOrder();
    attempts.set(id, ({ attempt }) => (attempt < 3 ? applied["reset after the engine"] : undefined));
    expect((await cancel(id)).status).toBe(204);
  });

  test("gets a 409 when its first attempt is lost and another client cancels before its second", async () => {
    const id = await pendingOrder();
    const others: number[] = [];
    attempts.set(id, () => {
      // Only the first attempt of the first client is lost.
      attempts.delete(id);
      return async ({ response }) => {
        others.push((await cancel(id)).status);
        response.socket?.resetAndDestroy();
      };
    });
    expectError(await cancel(id), "order_already_cancelled");
    expect(others).toEqual([204]);
  });

  test("gets a 409 when its first attempt is lost and the order ships before its second", async () => {
    const id = await pendingOrder();
    const shipped: boolean[] = [];
    attempts.set(
      id,
      first(async ({ response }) => {
        shipped.push(await stack.ship(id));
        response.socket?.resetAndDestroy();
      }),
    );
    expectError(await cancel(id), "order_already_shipped");
    expect(shipped).toEqual([true]);
  });

  test("gets a 409 when the order is marked as shipped after its first attempt was applied", async () => {
    const id = await pendingOrder();
    const statuses: unknown[] = [];
    attempts.set(
      id,
      first(async ({ forward, response }) => {
        await forward();
        const cancelled = await stack.order(id);
        statuses.push(cancelled?.["status"]?.S);
        await stack.putOrder({ ...cancelled, id: { N: id }, status: { S: "shipped" } });
        response.socket?.resetAndDestroy();
      }),
    );
    expectError(await cancel(id), "order_already_shipped");
    expect(statuses).toEqual(["cancelled"]);
  });

  test("changes nothing with an attempt that arrives after its own retry", async () => {
    const id = await pendingOrder();
    const late = Promise.withResolvers<number>();
    const firstResponse = Promise.withResolvers<void>();
    attempts.set(
      id,
      first(async ({ forward }) => {
        await firstResponse.promise;
        late.resolve((await forward()).status);
      }),
    );
    expect((await cancel(id)).status).toBe(204);
    const before = await stack.order(id);
    firstResponse.resolve();
    expect(await late.promise).toBe(400);
    expect(await stack.order(id)).toEqual(before);
  });
});

test("no header lets a client pass off another's cancellation as its own", async () => {
  const id = await pendingOrder();
  expect((await cancel(id)).status).toBe(204);
  const winner = (await stack.order(id))?.["cancellationId"]?.S ?? "";
  expect(winner).toMatch(/^[\w-]{36}$/);
  for (const value of [winner, `Root=1-${winner}`, `{"cancellationId":"${winner}"}`]) {
    const headers = Object.fromEntries(
      [
        "x-amzn-RequestId",
        "x-amz-request-id",
        "x-amz-apigw-id",
        "x-amzn-trace-id",
        "x-request-id",
        "amz-sdk-invocation-id",
        "lambda-runtime-aws-request-id",
        "lambda-runtime-client-context",
        "x-amz-client-context",
        "idempotency-key",
      ].map((name) => [name, value]),
    );
    expectError(await cancel(id, { headers }), "order_already_cancelled");
  }
  // Nor does one that two cancellations share.
  const shared = randomUUID();
  const other = await pendingOrder();
  const responses = [
    await cancel(other, { headers: { "x-amzn-RequestId": shared } }),
    await cancel(other, { headers: { "x-amzn-RequestId": shared } }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([204, 409]);
});
