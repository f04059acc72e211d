import { setImmediate } from "node:timers/promises";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { APIGatewayTokenAuthorizerEvent, Context } from "aws-lambda";
import { mockClient } from "aws-sdk-client-mock";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { handler as authorize } from "../../functions/authorize.ts";
import { handler as cancelOrder } from "../../functions/cancel-order.ts";
import { type FunctionName, functionList } from "../../infra/stack/function-list.ts";
import { type CallLimits, callLimits, retryBaseDelay } from "../../shared/dynamodb.ts";
import { scanOrders } from "../../shared/orders-table.ts";
import { issuedKeys } from "../helpers/issued-keys.ts";
import { lambdaContext, proxyEvent } from "../helpers/lambda.ts";
import { awslambda } from "../helpers/streaming.ts";

const clients = [mockClient(DynamoDBClient), mockClient(DynamoDBDocumentClient)];
beforeEach(() => {
  for (const client of clients) {
    client.reset();
    client.onAnyCommand().callsFake(() => new Promise(() => {}));
  }
  vi.spyOn(console, "error").mockReturnValue();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The SDK's longest pause after the first throttled attempt, in milliseconds; like the other, it doubles. */
const throttledBaseDelay = 1000;

/** The longest that a call can take to end, in milliseconds: each attempt is silent, or throttled at once. */
function longestCall({ connectionTimeout, requestTimeout, maxAttempts }: CallLimits): number {
  const from = (attempt: number): number => {
    const silent = connectionTimeout + requestTimeout;
    if (attempt === maxAttempts) return silent;
    const pause = 2 ** (attempt - 1);
    return Math.max(silent + retryBaseDelay * pause, throttledBaseDelay * pause) + from(attempt + 1);
  };
  return from(1);
}

const { method, path } = functionList.cancelOrder.operation;
/** The functions that make one call for a request; a list makes many. */
type Caller = Exclude<FunctionName, "listOrders">;
const handlers: Record<Caller, (context: Context) => Promise<unknown>> = {
  authorize: (context) => {
    const event: APIGatewayTokenAuthorizerEvent = {
      type: "TOKEN",
      methodArn: "arn:x/v1/GET/",
      authorizationToken: `Bearer ${issuedKeys.test.key}`,
    };
    return authorize(event, context);
  },
  cancelOrder: (context) => {
    const event = proxyEvent({ httpMethod: method, path, pathParameters: { orderId: "42" } });
    return cancelOrder(event, context);
  },
};
const limits: Record<Caller, CallLimits> = { authorize: callLimits.authorize, cancelOrder: callLimits.cancel };

describe.each(Object.keys(limits) as Caller[])("%s", (name) => {
  test("waits for the last attempt of its call, and responds before Lambda ends it", async () => {
    const timeout = functionList[name].timeoutSeconds * 1000;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], fakeNodeBuiltins: true });
    const ended = vi.fn();
    handlers[name]({ ...lambdaContext("invocation-1"), getRemainingTimeInMillis: () => timeout }).then(ended, ended);
    await vi.advanceTimersByTimeAsync(longestCall(limits[name]));
    expect(clients.flatMap((client) => client.calls())).toHaveLength(1);
    expect(ended).not.toHaveBeenCalled();
    // The rest is for sending the response.
    await vi.advanceTimersByTimeAsync(timeout - 250 - longestCall(limits[name]));
    await setImmediate();
    expect(ended).toHaveBeenCalledOnce();
  });
});

test.each([
  ["authorize", callLimits.authorize],
  ["cancel-order", callLimits.cancel],
  ["list-orders", callLimits.list],
])("functions/%s.ts has a client with its own limits", async (name, limits) => {
  const given: CallLimits[] = [];
  vi.doMock("../../shared/dynamodb.ts", async (original) => {
    const module = await original<typeof import("../../shared/dynamodb.ts")>();
    const createClient: typeof module.createClient = (limits) => {
      given.push(limits);
      return module.createClient(limits);
    };
    return { ...module, createClient };
  });
  for (const client of clients) client.onAnyCommand().resolves({});
  vi.stubGlobal("awslambda", awslambda);
  vi.resetModules();
  await import(`../../functions/${name}.ts`);
  expect(given).toEqual([limits]);
});

test("listOrders waits for the last attempt at a page, and for a throttled page, before Lambda ends it", async () => {
  const limit = vi.spyOn(AbortSignal, "timeout");
  clients[0]?.on(ScanCommand).rejects(Object.assign(new Error(), { name: "ThrottlingException" }));
  let waited = 0;
  const pause = async (milliseconds: number): Promise<void> => {
    waited += milliseconds;
  };
  await expect(scanOrders(new DynamoDBClient({}), "orders", { now: () => waited, pause }).next()).rejects.toThrow();
  const [[pageDeadline = 0] = []] = limit.mock.calls;
  expect(longestCall(callLimits.list)).toBeLessThan(pageDeadline);
  expect(waited + pageDeadline).toBeLessThan(functionList.listOrders.timeoutSeconds * 1000);
});
