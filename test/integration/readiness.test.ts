import { PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { issueApiKey, readApiKey } from "../../shared/api-keys-table.ts";
import type { OrderItem } from "../../shared/order.ts";
import { scanOne, updateNothing } from "../../shared/orders-table.ts";
import { createTable } from "../helpers/create-table.ts";
import { type Behaviour, passOn, startFaultProxy } from "../helpers/faults/fault-proxy.ts";
import { faults } from "../helpers/faults/faults.ts";
import { awslambda, eventOf, startFunction } from "../helpers/lambda.ts";
import { spyOnLog } from "../helpers/log.ts";
import { testEnvironment } from "../helpers/test-environment.ts";

const { ORDERS_TABLE: orders, API_KEYS_TABLE: apiKeys } = testEnvironment;

/** The fault that calls of the engine meet; undefined passes them on. */
let fault: Behaviour | undefined;
const engine = await startEngine();
const proxy = await startFaultProxy(engine.endpoint, () => fault);
const client = engineClient(engine.endpoint);
const key = makeApiKey("pets_test");

/** Makes the functions that start next call the engine through the proxy, without a fault. */
function useProxy(): void {
  fault = undefined;
  proxy.attempts.clear();
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", proxy.endpoint);
}

beforeAll(async () => {
  await createTable(client, "orders", orders);
  await createTable(client, "apiKeys", apiKeys);
  const fields = { name: "Acme", createdAt: 0 };
  await issueApiKey(DynamoDBDocumentClient.from(client), apiKeys, key, fields);
});
const log = spyOnLog();
beforeEach(() => {
  useProxy();
  // vitest has taken back what startFunction stubbed before this test.
  vi.stubGlobal("awslambda", awslambda);
});
afterAll(async () => {
  client.destroy();
  await proxy.stop();
  await engine.stop();
});

/**
 * Starts a function. What this resolves with serves a first request and expects a success, or a 404
 * for order 42, which isn't there.
 */
async function start(entry: FunctionEntry): Promise<() => Promise<void>> {
  const serve = await startFunction(entry);
  return async () => {
    const response = await serve(eventOf(entry, key));
    if (entry.operation)
      expect(response).toMatchObject({ statusCode: expect.toSatisfy((status) => status < 405) });
    else expect(response).toMatchObject({ context: { keyId: expect.any(String) } });
  };
}

describe.each(Object.values<FunctionEntry>(functionList))("the function $id", (entry) => {
  test("serves its first request over the connection of its start, and logs nothing", async () => {
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
    expect([log.warn.mock.calls, log.error.mock.calls]).toEqual([[], []]);
  });

  test("starts after one attempt when its table is silent", async () => {
    fault = faults["no response"];
    await start(entry);
    expect([...proxy.attempts.values()]).toEqual([1]);
  });

  describe.each([
    {
      trouble: "was silent",
      cause: /^(Timeout|Abort)Error: /,
      breakTable: () => {
        fault = faults["no response"];
      },
      mendTable: () => {
        fault = undefined;
      },
    },
    {
      trouble: "rejected connections",
      cause: /ECONNREFUSED/,
      breakTable: () => proxy.rejectConnections(),
      mendTable: () => proxy.accept(),
    },
  ])("after its table $trouble at the start", ({ cause, breakTable, mendTable }) => {
    test("warns once, with the cause, and serves its first request without a word", async () => {
      await breakTable();
      const serveFirstRequest = await start(entry).finally(mendTable);
      const warning = { event: "not_ready", cause: expect.stringMatching(cause) };
      await serveFirstRequest();
      expect([log.warn.mock.calls, log.error.mock.calls]).toEqual([[[warning]], []]);
    });
  });
});

describe("getting a function ready", () => {
  // The id that it asks for.
  const id = { N: "0" };

  test.each<[what: string, item: OrderItem | undefined]>([
    ["nothing", undefined],
    ["an order without a status", { id }],
    ["a pending order", { id, status: { S: "pending" } }],
    ["attributes of the wrong type", { id, status: { N: "1" }, petId: { NULL: true } }],
  ])("changes nothing in an orders table that holds %s", async (_, item) => {
    if (item) await client.send(new PutItemCommand({ TableName: orders, Item: item }));
    const { signal } = new AbortController();
    await updateNothing(client, orders, signal);
    await scanOne(client, orders, signal);
    expect(await items(orders)).toEqual(item ? [item] : []);
  });

  test("finds no API key, and changes none", async () => {
    const before = await items(apiKeys);
    const documents = DynamoDBDocumentClient.from(client);
    expect(await readApiKey(documents, apiKeys, "")).toBeUndefined();
    expect(await items(apiKeys)).toEqual(before);
  });
});

async function items(table: string): Promise<unknown> {
  const command = new ScanCommand({ TableName: table, ConsistentRead: true });
  const { Items } = await client.send(command);
  return Items;
}
