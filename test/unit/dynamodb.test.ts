import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { callFailed, createClient } from "../../shared/dynamodb.ts";

test("a client gives up an attempt without a response, and makes as many attempts as it may", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", `http://127.0.0.1:${port}`);
  const client = createClient({ connectionTimeout: 1_000, requestTimeout: 50, maxAttempts: 2 });
  try {
    // Counted by the SDK: on a busy machine an attempt may be over before the server hears of it.
    await expect(client.send(new ListTablesCommand({}))).rejects.toMatchObject({
      name: "TimeoutError",
      $metadata: { attempts: 2 },
    });
  } finally {
    client.destroy();
    silent.closeAllConnections();
    silent.close();
  }
});

test("a client makes every attempt it may, however many calls have failed before", async () => {
  // No pauses.
  const random = vi.spyOn(Math, "random").mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
  const broken = await startFailing(500, "InternalServerError");
  const client = createClient({ connectionTimeout: 5_000, requestTimeout: 5_000, maxAttempts: 3 });
  // The SDK's own quota ends in the eighteenth such call; with only one of two retries given back, in the 38th.
  const calls = 50;
  for (let call = 0; call < calls; call += 1) await expect(client.send(new ListTablesCommand({}))).rejects.toThrow();
  expect(broken.attempts).toBe(3 * calls);
  client.destroy();
});

// The time budgets of the functions (time-budgets.test.ts) count on these.
test.each([
  ["that failed, briefly", 500, "InternalServerError", [24, 49]],
  ["that was throttled, for longer", 400, "ThrottlingException", [999, 1999]],
])("a client pauses after an attempt %s, at random, twice as long after the second", async (_, status, name, most) => {
  const random = vi.spyOn(Math, "random").mockReturnValue(0.9999);
  const pauses: number[] = [];
  const { setTimeout: later } = globalThis;
  const timer = vi.spyOn(globalThis, "setTimeout").mockImplementation(((callback: () => void, milliseconds = 0) => {
    // Those of the HTTP handler are whole seconds.
    if (milliseconds % 1000 === 0) return later(callback, milliseconds);
    pauses.push(milliseconds);
    return later(callback, 0);
  }) as typeof setTimeout);
  onTestFinished(() => {
    for (const spy of [random, timer]) spy.mockRestore();
  });
  await startFailing(status, name);
  const client = createClient({ connectionTimeout: 5_000, requestTimeout: 5_000, maxAttempts: 3 });
  await expect(client.send(new ListTablesCommand({}))).rejects.toThrow();
  expect(pauses).toEqual(most);
  client.destroy();
});

test("a client limits the time to connect, too", async () => {
  await startFailing(500, "InternalServerError");
  const client = createClient({ connectionTimeout: 1_234, requestTimeout: 5_000, maxAttempts: 1 });
  await expect(client.send(new ListTablesCommand({}))).rejects.toThrow();
  expect(client.config.requestHandler).toMatchObject({ config: { connectionTimeout: 1_234 } });
  client.destroy();
});

/** An engine that answers every attempt with this error, for clients that are created after it. */
async function startFailing(status: number, name: string): Promise<{ attempts: number }> {
  const counted = { attempts: 0 };
  const server = createServer((_request, response) => {
    counted.attempts += 1;
    response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify({ __type: name }));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", `http://127.0.0.1:${port}`);
  return counted;
}

test("a client has no middleware for log lines", () => {
  const client = createClient({ connectionTimeout: 1, requestTimeout: 1, maxAttempts: 1 });
  expect(client.middlewareStack.identify().join()).not.toContain("loggerMiddleware");
  expect(client.middlewareStack.identify()).not.toEqual([]);
});

test.each([null, undefined, "secret", 7, {}])(
  "a thrown value that is not an error of the SDK (%j) is our fault",
  (thrown) => {
    expect(callFailed(thrown).code).toBe("internal_error");
  },
);
