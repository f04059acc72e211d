import { setImmediate } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { type CallLimits, callLimits, retryBaseDelay } from "../../shared/dynamodb.ts";
import { issuedKeys } from "../helpers/issued-keys.ts";
import { eventOf, lambdaContext, startFunction } from "../helpers/lambda.ts";

beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

const spyOnSends = () =>
  [DynamoDBClient, DynamoDBDocumentClient].map(({ prototype }) =>
    vi.spyOn(prototype, "send"),
  );

/**
 * The SDK's longest pause after the first throttled attempt, in milliseconds. It doubles with each
 * retry, like `retryBaseDelay`.
 */
const throttledBaseDelay = 1000;

/**
 * The longest that a call can take to end, in milliseconds: each attempt is silent, or throttled at
 * once.
 */
function longestCall(limits: CallLimits): number {
  const silent = limits.connectionTimeout + limits.requestTimeout;
  // The last attempt has no pause after it.
  let longest = silent;
  for (let retry = 0; retry < limits.maxAttempts - 1; retry += 1) {
    const growth = 2 ** retry;
    longest += Math.max(silent + retryBaseDelay * growth, throttledBaseDelay * growth);
  }
  return longest;
}

/** The limits that each function's client must have. */
function limitsOf({ operation }: FunctionEntry): CallLimits {
  if (operation?.streamed) return callLimits.list;
  return operation ? callLimits.oneOrder : callLimits.authorizer;
}
const entries = Object.values<FunctionEntry>(functionList);
/** The functions that make one call for a request; a list makes many. */
const callers = entries.filter(({ operation }) => !operation?.streamed);

test.each(callers)(
  "$id waits for the last attempt of its only call, but not for Lambda's timeout",
  async (entry) => {
    const sends = spyOnSends();
    for (const send of sends) send.mockImplementation(async () => ({}));
    const serve = await startFunction(entry);
    for (const send of sends)
      send.mockClear().mockImplementation(() => new Promise<never>(() => {}));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], fakeNodeBuiltins: true });
    const ended = vi.fn();
    const timeout = entry.timeoutSeconds * 1000;
    const context = { ...lambdaContext(), getRemainingTimeInMillis: () => timeout };
    serve(eventOf(entry, issuedKeys.test.key), context).then(ended, ended);

    // The rest is for the response.
    const end = timeout - (entry.operation ? 500 : 250);
    expect(longestCall(limitsOf(entry))).toBeLessThan(end);
    await vi.advanceTimersByTimeAsync(end - 1);
    await setImmediate();
    expect(sends.flatMap(({ mock }) => mock.calls)).toHaveLength(1);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await setImmediate();
    expect(ended).toHaveBeenCalledOnce();
  },
);

/** The limits that a client exposes. */
interface Config {
  maxAttempts(): Promise<number>;
  requestHandler: { httpHandlerConfigs(): object };
}

test.each(entries)("functions/$file has a client with its own limits", async (entry) => {
  const sends = spyOnSends();
  await startFunction(entry);
  const [client] = sends.flatMap(({ mock }) => mock.contexts as { config: Config }[]);
  const { maxAttempts, ...timeouts } = limitsOf(entry);
  expect(await client?.config.maxAttempts()).toBe(maxAttempts);
  // The handler reads these on its first request, which fails here.
  expect(client?.config.requestHandler.httpHandlerConfigs()).toMatchObject(timeouts);
});

test("each of three attempts has time to connect, and for a response on a slow day, of a list for a page of 1 MB", () => {
  for (const { connectionTimeout, requestTimeout, maxAttempts } of Object.values(
    callLimits,
  )) {
    expect(connectionTimeout).toBeGreaterThanOrEqual(300);
    expect(requestTimeout).toBeGreaterThanOrEqual(1000);
    expect(maxAttempts).toBe(3);
  }
  expect(callLimits.oneOrder.requestTimeout).toBeGreaterThanOrEqual(2000);
  expect(callLimits.list.requestTimeout).toBeGreaterThanOrEqual(4000);
});

test("listOrders has time for a call's last attempt and a page's last call", () => {
  // As scan-orders.test.ts has them.
  const pageDeadline = 15_000;
  const throttlingDeadline = 60_000;
  expect(longestCall(callLimits.list)).toBeLessThan(pageDeadline);
  const timeout = functionList.listOrders.timeoutSeconds * 1000;
  expect(throttlingDeadline + pageDeadline).toBeLessThan(timeout);
});
