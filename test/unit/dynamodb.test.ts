import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { expect, test, vi } from "vitest";
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
  let attempts = 0;
  const broken = createServer((_request, response) => {
    attempts += 1;
    response.writeHead(500).end();
  }).listen(0, "127.0.0.1");
  await once(broken, "listening");
  const { port } = broken.address() as AddressInfo;
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", `http://127.0.0.1:${port}`);
  const client = createClient({ connectionTimeout: 5_000, requestTimeout: 5_000, maxAttempts: 3 });
  // The SDK's own quota ends in the eighteenth such call.
  const calls = 25;
  try {
    for (let call = 0; call < calls; call += 1) await expect(client.send(new ListTablesCommand({}))).rejects.toThrow();
    expect(attempts).toBe(3 * calls);
  } finally {
    client.destroy();
    broken.closeAllConnections();
    broken.close();
  }
});

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
