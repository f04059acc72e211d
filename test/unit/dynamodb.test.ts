import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import {
  DynamoDBClient,
  ListTablesCommand,
  PutItemCommand,
  ScanCommand,
  TagResourceCommand,
} from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { callFailed, createClient, retryIncompleteResponses } from "../../shared/dynamodb.ts";

test("a client gives up each attempt without a response", async () => {
  await startEngine(() => {});
  const client = createClient({ connectionTimeout: 1_000, requestTimeout: 50, maxAttempts: 2 });
  // Counted by the SDK: on a busy machine an attempt may be over before the server hears of it.
  await expect(client.send(new ListTablesCommand({}))).rejects.toMatchObject({
    name: "TimeoutError",
    $metadata: { attempts: 2 },
  });
  client.destroy();
});

test("a client makes every attempt it may, however many calls have failed before", async () => {
  // No pauses.
  const random = vi.spyOn(Math, "random").mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
  const broken = await startFailing("500 Internal Server Error", "InternalServerError");
  const client = createClient({ connectionTimeout: 5_000, requestTimeout: 5_000, maxAttempts: 3 });
  // The SDK's own quota ends in the eighteenth such call; with only one of two retries given back,
  // in the 38th.
  const calls = 50;
  for (let call = 0; call < calls; call += 1)
    await expect(client.send(new ListTablesCommand({}))).rejects.toThrow();
  expect(broken.attempts).toBe(3 * calls);
  client.destroy();
});

// The time budgets of the functions (time-budgets.test.ts) count on these.
test.each([
  [
    "that failed, briefly",
    () => startFailing("500 Internal Server Error", "InternalServerError"),
    [24, 49],
  ],
  ["whose response was lost, briefly", () => startResponding("200 OK", () => "\r\n"), [24, 49]],
  [
    "that was throttled, for longer",
    () => startFailing("400 Bad Request", "ThrottlingException"),
    [999, 1999],
  ],
])(
  "a client pauses after an attempt %s, at random, twice as long after the second",
  async (_, startTable, most) => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0.9999);
    const pauses: number[] = [];
    const { setTimeout: later } = globalThis;
    const timer = vi.spyOn(globalThis, "setTimeout").mockImplementation(((
      callback: () => void,
      milliseconds = 0,
    ) => {
      // Those of the HTTP handler are whole seconds.
      if (milliseconds % 1000 === 0) return later(callback, milliseconds);
      pauses.push(milliseconds);
      return later(callback, 0);
    }) as typeof setTimeout);
    onTestFinished(() => {
      for (const spy of [random, timer]) spy.mockRestore();
    });
    await startTable();
    const client = createClient({
      connectionTimeout: 5_000,
      requestTimeout: 5_000,
      maxAttempts: 3,
    });
    await expect(client.send(new ListTablesCommand({}))).rejects.toThrow();
    expect(pauses).toEqual(most);
    client.destroy();
  },
);

test("a client limits the time to connect, too", async () => {
  await startFailing("500 Internal Server Error", "InternalServerError");
  const client = createClient({ connectionTimeout: 1_234, requestTimeout: 5_000, maxAttempts: 1 });
  await expect(client.send(new ListTablesCommand({}))).rejects.toThrow();
  expect(client.config.requestHandler).toMatchObject({ config: { connectionTimeout: 1_234 } });
  client.destroy();
});

/** Starts an engine that does this with each attempt, for clients that are created after it. */
async function startEngine(respond: (socket: Socket) => void): Promise<void> {
  const server = createServer(({ socket }) => respond(socket)).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", `http://127.0.0.1:${port}`);
}

/** Starts an engine that responds to each attempt with these bytes, and counts them. */
async function startResponding(
  head: string,
  body: (attempt: number) => string,
): Promise<{ attempts: number }> {
  const counted = { attempts: 0 };
  await startEngine((socket) => {
    counted.attempts += 1;
    socket.end(`HTTP/1.1 ${head}\r\nConnection: close\r\n${body(counted.attempts)}`);
  });
  return counted;
}

test("a client takes an empty response for a whole one where it is to expect one", async () => {
  const engine = await startResponding("200 OK", () => "Content-Length: 0\r\n\r\n");
  const client = retryIncompleteResponses(new DynamoDBClient({ maxAttempts: 3 }), [
    "TagResourceCommand",
  ]);
  await client.send(
    new TagResourceCommand({ ResourceArn: "arn:aws:dynamodb:eu-west-1:1:table/orders", Tags: [] }),
  );
  expect(engine.attempts).toBe(1);
  client.destroy();
});

const startFailing = (status: string, name: string) =>
  startResponding(status, () => `\r\n{"__type":"${name}"}`);

test("a client has no middleware for log lines", () => {
  const client = createClient({ connectionTimeout: 1, requestTimeout: 1, maxAttempts: 1 });
  expect(client.middlewareStack.identify().join()).not.toContain("loggerMiddleware");
  expect(client.middlewareStack.identify()).not.toEqual([]);
});

test("a 5xx from something on the way to the table is service_unavailable", () => {
  const error = Object.assign(new Error("Insufficient Storage"), {
    $metadata: { httpStatusCode: 507 },
  });
  expect(callFailed(error).code).toBe("service_unavailable");
});

test("a thrown value that is not an error of the SDK is our fault", () => {
  for (const thrown of [null, "secret", {}]) expect(callFailed(thrown).code).toBe("internal_error");
});

describe.each([
  [
    "the service",
    () => createClient({ connectionTimeout: 5_000, requestTimeout: 5_000, maxAttempts: 3 }),
  ],
  [
    "the tools on a local engine",
    () => engineClient(process.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? ""),
  ],
])("a client of %s takes for a lost response", (_, makeClient) => {
  test.each([
    ["an empty one without a length", "\r\n"],
    ["an empty one with a length", "Content-Length: 0\r\n\r\n"],
    ["an empty one in chunks", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["one that ends between two chunks", 'Transfer-Encoding: chunked\r\n\r\n7\r\n{"Items\r\n'],
    ["half of one without a length", '\r\n{"Items":[{"id":{"N":"1'],
    ["one that ends behind a brace", '\r\n{"Items":[{"id":{"N":"1"}}'],
    ["one that isn't JSON", "\r\n<html></html>"],
  ])("%s", async (_, rest) => {
    await startResponding("200 OK", (attempt) => (attempt % 3 === 0 ? '\r\n{"Items":[]}' : rest));
    const client = makeClient();
    const write = new PutItemCommand({ TableName: "orders", Item: { id: { N: "1" } } });
    const third = { $metadata: { attempts: 3 } };
    expect(await client.send(new ScanCommand({ TableName: "orders" }))).toMatchObject({
      ...third,
      Items: [],
    });
    expect(await client.send(write)).toMatchObject(third);
    client.destroy();
  });
});
