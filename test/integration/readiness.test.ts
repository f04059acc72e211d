import { PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { issueApiKey, readApiKey } from "../../shared/api-keys-table.ts";
import { scanOne, updateNothing } from "../../shared/orders-table.ts";
import { createTable } from "../helpers/create-table.ts";
import { type Behaviour, passOn, startFaultProxy } from "../helpers/faults/fault-proxy.ts";
import { faults } from "../helpers/faults/faults.ts";
import { eventOf, startFunction } from "../helpers/lambda.ts";
import { spyOnLog } from "../helpers/log.ts";
import { testEnvironment } from "../helpers/test-environment.ts";

const { ORDERS_TABLE: orders, API_KEYS_TABLE: apiKeys } = testEnvironment;

/** The fault that calls of the engine meet; undefined passes them on. */
let fault: Behaviour | undefined;
const engine = await startEngine();
const proxy = await startFaultProxy(engine.endpoint, () => fault);
const client = engineClient(engine.endpoint);
let key: string;

beforeAll(async () => {
  await createTable(client, "orders", orders);
  await createTable(client, "apiKeys", apiKeys);
  const fields = { name: "Acme", createdAt: 0 };
  ({ key } = await issueApiKey(DynamoDBDocumentClient.from(client), apiKeys, "pets_test", fields));
});
const log = spyOnLog();
beforeEach(() => {
  fault = undefined;
  proxy.attempts.clear();
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", proxy.endpoint);
});
afterAll(async () => {
  client.destroy();
  await proxy.stop();
  await engine.stop();
});

/**
 * Starts a function. What this resolves with serves a first request, which succeeds but for an
 * order that isn't there.
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
  test("serves its first request over the connection that it opened as it started", async () => {
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
    expectWarned([]);
  });

  test("starts after one attempt when its table is silent", async () => {
    fault = faults["no response"];
    await start(entry);
    expect([...proxy.attempts.values()]).toEqual([1]);
  });

  test("serves requests once a table that was silent at the start no longer is", async () => {
    fault = faults["no response"];
    const serveFirstRequest = await start(entry);
    fault = undefined;
    await serveFirstRequest();
    expectWarned([/^(Timeout|Abort)Error: /]);
  });

  test("serves requests after its table rejected connections at the start", async () => {
    await proxy.rejectConnections();
    const serveFirstRequest = await start(entry).finally(() => proxy.accept());
    await serveFirstRequest();
    expectWarned([/ECONNREFUSED/]);
  });
});

/** Expects these causes, each in one warning, and no failure. */
function expectWarned(causes: RegExp[]): void {
  const warnings = causes.map((cause) => [
    { event: "not_ready", cause: expect.stringMatching(cause) },
  ]);
  expect([log.warn.mock.calls, log.error.mock.calls]).toEqual([warnings, []]);
}

describe("being made ready changes nothing", () => {
  const id = { N: "0" };

  test.each([
    undefined,
    { id },
    { id, status: { S: "pending" } },
    { id, status: { N: "1" }, petId: { NULL: true } },
  ])("in an orders table that has %j, the very id that it asks for", async (Item) => {
    if (Item) await client.send(new PutItemCommand({ TableName: orders, Item }));
    const { signal } = new AbortController();
    await updateNothing(client, orders, signal);
    await scanOne(client, orders, signal);
    expect(await items(orders)).toEqual(Item ? [Item] : []);
  });

  test("in the table of keys, where no key has the hash of an empty text", async () => {
    const before = await items(apiKeys);
    expect(await readApiKey(DynamoDBDocumentClient.from(client), apiKeys, "")).toBeUndefined();
    expect(await items(apiKeys)).toEqual(before);
  });
});

async function items(TableName: string): Promise<unknown> {
  return (await client.send(new ScanCommand({ TableName, ConsistentRead: true }))).Items;
}
