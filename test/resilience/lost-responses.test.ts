import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HttpResponse } from "../../infra/smoke/response-problems.ts";
import { expectError } from "../helpers/expect-error.ts";
import type { Behaviour, EngineCall } from "../helpers/faults/fault-proxy.ts";
import { applied } from "../helpers/faults/faults.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";
import type { RequestOptions } from "../helpers/send.ts";

/** The fates of the attempts to cancel an order, by the order's id. */
const attempts = new Map<string, (call: EngineCall) => Behaviour | undefined>();
let stack: FaultyStack;
beforeAll(async () => {
  stack = await startFaultyStack((call) => attempts.get(/"id":\{"N":"(\d+)"\}/.exec(call.input)?.[1] ?? "")?.(call), {
    maxEnvironments: 1,
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

// test/protocol goes through whatever else can happen between two attempts.
test("a cancellation whose response is lost twice gets a 204 all the same", async () => {
  const id = await pendingOrder();
  attempts.set(id, ({ attempt }) => (attempt < 3 ? applied["reset after the engine"] : undefined));
  expect((await cancel(id)).status).toBe(204);
  expect(await stack.order(id)).toMatchObject({ status: { S: "cancelled" } });
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
