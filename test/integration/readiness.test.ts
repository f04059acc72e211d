import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { readApiKey } from "../../shared/api-keys-table.ts";
import { environmentVariable } from "../../shared/function-start.ts";
import type { OrderItem } from "../../shared/order.ts";
import { scanOne, updateNothing } from "../../shared/orders-table.ts";
import {
  type Behaviour,
  type FaultProxy,
  passOn,
} from "../helpers/faults/fault-proxy.ts";
import { rejectedAs, unapplied } from "../helpers/faults/faults.ts";
import { eventOf, startFunction } from "../helpers/lambda.ts";
import { spyOnLog } from "../helpers/log.ts";
import { createTestTables } from "../helpers/test-tables.ts";

const tables = await createTestTables();
const { orders, apiKeys } = tables.tables;
const log = spyOnLog();
/** The warnings and errors in the log. */
const troubles = () => [log.warn.mock.calls, log.error.mock.calls];

/** The fault that calls of the functions meet; undefined passes them on. */
let fault: Behaviour | undefined;
let proxy: FaultProxy;
let key: string;
beforeEach(async () => {
  fault = undefined;
  ({ proxy } = await tables.behindProxy(() => fault));
  key = await tables.putKey();
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", proxy.endpoint);
  vi.stubEnv("ORDERS_TABLE", orders);
  vi.stubEnv("API_KEYS_TABLE", apiKeys);
});

/** Starts a function. What this resolves with serves a first request, which must not fail. */
async function start(entry: FunctionEntry): Promise<() => Promise<void>> {
  const serve = await startFunction(entry);
  return async () => {
    const response = await serve(eventOf(entry, key));
    // Order 42, which it cancels, isn't there.
    if (entry.operation) expect([200, 404]).toContain(response.statusCode);
    else expect(response).toHaveProperty("context.keyId");
  };
}

describe.each(Object.values<FunctionEntry>(functionList))("the function $id", (entry) => {
  test("serves its first request over the connection of its start, and logs nothing", async () => {
    // A busy machine takes longer than a start may wait.
    const timeout = vi.spyOn(AbortSignal, "timeout");
    timeout.mockReturnValue(new AbortController().signal);
    onTestFinished(() => timeout.mockRestore());
    const connections: unknown[] = [];
    fault = async (exchange) => {
      connections.push(exchange.response.socket);
      await passOn(exchange);
    };
    const serveFirstRequest = await start(entry);
    expect(connections).toHaveLength(1);
    await serveFirstRequest();
    expect(connections).toHaveLength(2);
    expect(new Set(connections).size).toBe(1);
    expect(timeout).toHaveBeenCalledWith(900);
    expect(troubles()).toEqual([[], []]);
  });

  test.each([
    ["is silent", false, /^(LostCall|Abort)Error: /, unapplied["no response"]],
    [
      "throttles",
      false,
      /^(\w+Exception|AbortError): /,
      unapplied["throttled by the table"],
    ],
    [
      "quotes what it was sent",
      false,
      /signature: \.\.\.$|^AbortError: /,
      rejectedAs("AccessDeniedException", "signature: 12ab"),
    ],
    ["rejects connections", true, /ECONNREFUSED/, passOn],
  ])(
    "starts with one warning while its table %s, and then serves as ever",
    async (_, isClosed, cause, behaviour) => {
      const met = vi.fn(behaviour);
      fault = met;
      if (isClosed) await proxy.rejectConnections();
      const serveFirstRequest = await start(entry);
      if (isClosed) expect(met).not.toHaveBeenCalled();
      else expect(met).toHaveBeenCalled();
      fault = undefined;
      if (isClosed) await proxy.accept();
      await serveFirstRequest();
      const warning = { event: "not_ready", cause: expect.stringMatching(cause) };
      expect(troubles()).toEqual([[[warning]], []]);
    },
  );
});

test("a function's start fails without the name of its table, and says which is missing", () => {
  vi.stubEnv("ORDERS_TABLE", "");
  const reason = "The environment variable ORDERS_TABLE is not set";
  expect(() => environmentVariable("ORDERS_TABLE")).toThrow(reason);
});

// The id that it asks for.
const id = { N: "0" };
test.each<OrderItem[][]>([[[]], [[{ id }]], [[{ id, status: { S: "pending" } }]]])(
  "getting ready finds no key, and changes nothing in a table with %j",
  async (items) => {
    for (const item of items) await tables.putOrder(item);
    const keys = await tables.items("apiKeys");
    const { signal } = new AbortController();
    await updateNothing(tables.client, orders, signal);
    await scanOne(tables.client, orders, signal);
    const documents = DynamoDBDocumentClient.from(tables.client);
    expect(await readApiKey(documents, apiKeys, "", signal)).toBeUndefined();
    expect(await tables.items("orders")).toEqual(items);
    expect(await tables.items("apiKeys")).toEqual(keys);
  },
);
