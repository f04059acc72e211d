import {
  type DynamoDBClient,
  ListTablesCommand,
  PutItemCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { engineClient } from "../../infra/tools/running-stacks/engine-client.ts";
import { callFailed, createClient } from "../../shared/dynamodb.ts";
import { response, startFakeTable } from "./fake-table.ts";

const table = await startFakeTable();
afterEach(() => void vi.restoreAllMocks());

/** A client that never times out by chance, until the test ends. */
function patientClient(requestTimeout = 5_000): DynamoDBClient {
  const { endpoint } = table;
  const limits = { connectionTimeout: 5_000, requestTimeout, maxAttempts: 3 };
  const client = createClient(limits, { endpoint });
  onTestFinished(() => client.destroy());
  return client;
}

/** Replaces the pauses between attempts, the longest there can be. @returns their milliseconds. */
function spyOnPauses(): number[] {
  const pauses: number[] = [];
  vi.spyOn(Math, "random").mockReturnValue(0.9999);
  const { setTimeout: realSetTimeout } = globalThis;
  const fake = (callback: () => void, milliseconds = 0) => {
    // The timeouts of the HTTP handler are whole seconds.
    if (milliseconds % 1000 === 0) return realSetTimeout(callback, milliseconds);
    pauses.push(milliseconds);
    return realSetTimeout(callback, 0);
  };
  vi.spyOn(globalThis, "setTimeout").mockImplementation(fake as typeof setTimeout);
  return pauses;
}

test("a client times out every attempt that gets no response", async () => {
  table.respond = () => undefined;
  // Counted by the SDK: on a busy machine an attempt may be over before the server hears of it.
  await expect(patientClient(50).send(new ListTablesCommand({}))).rejects.toMatchObject({
    name: "TimeoutError",
    $metadata: { attempts: 3 },
  });
});

// The time budgets of the functions (time-budgets.test.ts) count on these.
test("a client doubles its pause after each failed, lost or throttled attempt, however many came before", async () => {
  const pauses = spyOnPauses();
  const client = patientClient();
  const failures = [
    { bytes: response(500, '{"__type":"InternalServerError"}'), longest: [24, 49] },
    { bytes: response(200, ""), longest: [24, 49] },
    { bytes: response(400, '{"__type":"ThrottlingException"}'), longest: [999, 1999] },
  ];
  // The SDK's own quota would end in round 8; with one of two retries given back, in round 16.
  for (let round = 1; round <= 20; round += 1)
    for (const { bytes, longest } of failures) {
      table.respond = () => bytes;
      await expect(client.send(new ListTablesCommand({}))).rejects.toThrow();
      expect(pauses.splice(0), `round ${round}`).toEqual(longest);
    }
});

test("a client has no middleware for log lines", () => {
  const middleware = patientClient().middlewareStack.identify();
  expect(middleware.join()).not.toContain("loggerMiddleware");
  expect(middleware).not.toEqual([]);
});

test.each([
  { name: "ThrottlingException" },
  { name: "InternalServerError", $metadata: { httpStatusCode: 500 } },
  // From something on the way to the table.
  { $metadata: { httpStatusCode: 507 } },
  { name: "TimeoutError" },
  { name: "AbortError" },
  { code: "ECONNREFUSED" },
  { code: "EPIPE" },
])("a call that fails with %j is service_unavailable", (fields) => {
  const error = Object.assign(new Error("secret"), fields);
  expect(callFailed(error)).toMatchObject({ code: "service_unavailable", cause: error });
});

test.each([
  Object.assign(new Error("secret"), { name: "ResourceNotFoundException" }),
  new TypeError("secret"),
  null,
  {},
])("a call that fails with %s, which is our fault, is internal_error", (thrown) => {
  expect(callFailed(thrown).code).toBe("internal_error");
});

describe.each([
  ["the service", patientClient],
  ["the tools on a local engine", () => engineClient(table.endpoint)],
])("a client of %s repeats a call after", (_, makeClient) => {
  test.each([
    ["an empty response without a length", "\r\n"],
    ["an empty response with a length", "Content-Length: 0\r\n\r\n"],
    ["an empty response in chunks", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    [
      "a response that ends between two chunks",
      'Transfer-Encoding: chunked\r\n\r\n7\r\n{"Items\r\n',
    ],
    ["half of a response without a length", '\r\n{"Items":[{"id":{"N":"1'],
    ["a response that ends after a brace", '\r\n{"Items":[{"id":{"N":"1"}}'],
    ["a response that isn't JSON", "\r\n<html></html>"],
  ])("%s", async (_response, bytes) => {
    // Every third attempt succeeds.
    table.respond = (attempt) =>
      attempt % 3 === 0
        ? response(200, '{"Items":[]}')
        : `HTTP/1.1 200 OK\r\nConnection: close\r\n${bytes}`;
    const client = makeClient();
    const write = new PutItemCommand({ TableName: "orders", Item: { id: { N: "1" } } });
    const third = { $metadata: { attempts: 3 } };
    const scan = client.send(new ScanCommand({ TableName: "orders" }));
    expect(await scan).toMatchObject({ ...third, Items: [] });
    expect(await client.send(write)).toMatchObject(third);
    client.destroy();
  });
});
