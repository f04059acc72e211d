import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import {
  type DynamoDBClient,
  ListTablesCommand,
  PutItemCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { callFailed, createClient } from "../../shared/dynamodb.ts";

/** Starts a table that does this with each attempt, for clients that are created after it. */
async function startTable(respond: (socket: Socket) => void): Promise<void> {
  const server = createServer(({ socket }) => respond(socket)).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", `http://127.0.0.1:${port}`);
}

/** Starts a table that responds to each attempt with these bytes, and counts the attempts. */
async function startResponding(
  head: string,
  body: (attempt: number) => string,
): Promise<{ attempts: number }> {
  const counted = { attempts: 0 };
  await startTable((socket) => {
    counted.attempts += 1;
    socket.end(`HTTP/1.1 ${head}\r\nConnection: close\r\n${body(counted.attempts)}`);
  });
  return counted;
}

/** A client that never times out by chance, until the test ends. */
function patientClient(maxAttempts: number): DynamoDBClient {
  const client = createClient({
    connectionTimeout: 5_000,
    requestTimeout: 5_000,
    maxAttempts,
  });
  onTestFinished(() => client.destroy());
  return client;
}

/** Starts a table that responds to each attempt with this error. */
const startFailing = (status: string, name: string) =>
  startResponding(status, () => `\r\n{"__type":"${name}"}`);

/** Replaces the pauses between attempts, the longest there can be. @returns their milliseconds. */
function spyOnPauses(): number[] {
  const pauses: number[] = [];
  const random = vi.spyOn(Math, "random").mockReturnValue(0.9999);
  const { setTimeout: realSetTimeout } = globalThis;
  const fake = (callback: () => void, milliseconds = 0) => {
    // The timeouts of the HTTP handler are whole seconds.
    if (milliseconds % 1000 === 0) return realSetTimeout(callback, milliseconds);
    pauses.push(milliseconds);
    return realSetTimeout(callback, 0);
  };
  const timer = vi
    .spyOn(globalThis, "setTimeout")
    .mockImplementation(fake as typeof setTimeout);
  onTestFinished(() => {
    random.mockRestore();
    timer.mockRestore();
  });
  return pauses;
}

test("a client times out every attempt that gets no response", async () => {
  await startTable(() => {});
  const client = createClient({
    connectionTimeout: 1_000,
    requestTimeout: 50,
    maxAttempts: 2,
  });
  // Counted by the SDK: on a busy machine an attempt may be over before the server hears of it.
  await expect(client.send(new ListTablesCommand({}))).rejects.toMatchObject({
    name: "TimeoutError",
    $metadata: { attempts: 2 },
  });
  client.destroy();
});

test("a client makes all of its attempts, however many calls have failed before", async () => {
  // No pauses.
  const random = vi.spyOn(Math, "random").mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
  const broken = await startFailing("500 Internal Server Error", "InternalServerError");
  const client = patientClient(3);
  // The SDK's own quota ends in the eighteenth such call; with only one of two retries given back,
  // in the 38th.
  const calls = 50;
  for (let call = 0; call < calls; call += 1)
    await expect(client.send(new ListTablesCommand({}))).rejects.toThrow();
  expect(broken.attempts).toBe(3 * calls);
});

// The time budgets of the functions (time-budgets.test.ts) count on these.
test.each([
  {
    attempt: "that failed, up to 25 ms at first",
    start: () => startFailing("500 Internal Server Error", "InternalServerError"),
    longest: [24, 49],
  },
  {
    attempt: "whose response was lost, up to 25 ms at first",
    start: () => startResponding("200 OK", () => "\r\n"),
    longest: [24, 49],
  },
  {
    attempt: "that was throttled, up to 1 s at first",
    start: () => startFailing("400 Bad Request", "ThrottlingException"),
    longest: [999, 1999],
  },
])("a client doubles its pause after each attempt $attempt", async ({ start, longest }) => {
  const pauses = spyOnPauses();
  await start();
  await expect(patientClient(3).send(new ListTablesCommand({}))).rejects.toThrow();
  expect(pauses).toEqual(longest);
});

test("a client has no middleware for log lines", () => {
  const middleware = patientClient(1).middlewareStack.identify();
  expect(middleware.join()).not.toContain("loggerMiddleware");
  expect(middleware).not.toEqual([]);
});

test.each([
  { name: "ProvisionedThroughputExceededException" },
  { name: "ThrottlingException" },
  { name: "RequestLimitExceeded" },
  { name: "InternalServerError", $metadata: { httpStatusCode: 500 } },
  // From something on the way to the table.
  { $metadata: { httpStatusCode: 507 } },
  { name: "TimeoutError" },
  { name: "AbortError" },
  { code: "ECONNREFUSED" },
  { code: "ECONNRESET" },
  { code: "EPIPE" },
  { code: "ENOTFOUND" },
])("a call that fails with %j is service_unavailable", (fields) => {
  const error = Object.assign(new Error("secret"), fields);
  expect(callFailed(error)).toMatchObject({ code: "service_unavailable", cause: error });
});

test.each([
  Object.assign(new Error("secret"), { name: "ResourceNotFoundException" }),
  Object.assign(new Error("secret"), { name: "AccessDeniedException" }),
  Object.assign(new Error("secret"), { name: "ValidationException" }),
  new TypeError("secret"),
  null,
  "secret",
  {},
])("a call that fails with %s, which is our fault, is internal_error", (thrown) => {
  expect(callFailed(thrown).code).toBe("internal_error");
});

describe.each([
  ["the service", () => patientClient(3)],
  [
    "the tools on a local engine",
    () => engineClient(process.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? ""),
  ],
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
    await startResponding("200 OK", (attempt) =>
      attempt % 3 === 0 ? '\r\n{"Items":[]}' : bytes,
    );
    const client = makeClient();
    const write = new PutItemCommand({ TableName: "orders", Item: { id: { N: "1" } } });
    const third = { Items: [], $metadata: { attempts: 3 } };
    expect(await client.send(new ScanCommand({ TableName: "orders" }))).toMatchObject(
      third,
    );
    expect(await client.send(write)).toMatchObject({ $metadata: third.$metadata });
    client.destroy();
  });
});
