import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readdir } from "node:fs/promises";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { makeApiKey } from "../../shared/api-keys.ts";
import { lambdaContext, proxyEvent } from "../helpers/lambda.ts";

/** Every name this process has looked up and every address it has tried to connect to. */
const contacted: string[] = [];
const watch = (message: unknown): void => {
  const { socket } = message as { socket: Socket };
  socket.on("lookup", (_error, _address, _family, name) => contacted.push(name));
  socket.on("connectionAttempt", (address, port) => contacted.push(`${address}:${port}`));
};
beforeAll(() => subscribe("net.client.socket", watch));
afterAll(() => unsubscribe("net.client.socket", watch));

const context = lambdaContext("invocation");
/** Imports each handler, for the first time in this process, and invokes it. */
const invocations: Record<string, () => Promise<unknown>> = {
  "authorize.ts": async () => {
    const { handler } = await import("../../functions/authorize.ts");
    const authorizationToken = `Bearer ${makeApiKey("pets_test")}`;
    await handler({ type: "TOKEN", authorizationToken, methodArn: "arn" }, context);
  },
  "cancel-order.ts": async () => {
    const { handler } = await import("../../functions/cancel-order.ts");
    await Reflect.apply(handler, undefined, [proxyEvent({ pathParameters: { orderId: "1" } }), context]);
  },
  "list-orders.ts": async () => {
    const { handler } = await import("../../functions/list-orders.ts");
    await Reflect.apply(handler, undefined, [proxyEvent({}), new PassThrough().resume(), context]);
  },
};

test("a handler that a test imports and invokes tries to connect to the closed endpoint, and to nothing else", async () => {
  vi.stubGlobal("awslambda", {
    streamifyResponse: (handler: unknown) => handler,
    HttpResponseStream: { from: (stream: unknown) => stream },
  });
  for (const level of ["info", "error"] as const) vi.spyOn(console, level).mockReturnValue();
  const files = await readdir(new URL("../../functions", import.meta.url));
  expect(files.sort()).toEqual(Object.keys(invocations));
  for (const [file, invoke] of Object.entries(invocations)) {
    contacted.length = 0;
    await invoke().catch(() => {});
    expect([file, new Set(contacted)]).toEqual([file, new Set(["127.0.0.1:9"])]);
  }
});
