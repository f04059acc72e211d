import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";
import { Histories } from "../helpers/history/histories.ts";
import { stateOf } from "../helpers/history/state.ts";

const ids = Array.from({ length: 90 }, (_, index) => String(30_000 + index));
/** After so many cancellations the engine is killed. */
const storm = 40;
const atOnce = 16;

let directory: string;
let stack: FaultyStack;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "pet-store-orders-killed-"));
  // Its key stays in the authorizer's cache: without an engine, the authorizer can admit no one else.
  stack = await startFaultyStack(() => undefined, { db: join(directory, "orders.db"), clock: () => 0 });
  await Promise.all(ids.map((id) => stack.putOrder({ id: { N: id }, status: { S: "pending" } })));
});
afterAll(async () => {
  await stack?.stop();
  await rm(directory, { recursive: true, force: true });
});

test("an engine that is killed amid cancellations keeps every one that got a 204", async () => {
  const histories = new Histories("pending");
  const key = await stack.putKey({ keyId: "storm" });
  // Admitted once, it stays in the authorizer's cache: one process is enough.
  await stack.call("/store/orders/none", { method: "DELETE" }, key);
  const cancel = async (id: string): Promise<number> => {
    const send = () => stack.call(`/store/orders/${id}`, { method: "DELETE" }, key);
    return (await histories.record(id, { kind: "cancel", by: "storm" }, send)).status;
  };
  const cancelled = new Set<string>();
  const unknown = new Set<string>();
  const waiting = [...ids];
  const client = async (): Promise<void> => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const status = await cancel(id);
      expect([204, 503]).toContain(status);
      (status === 204 ? cancelled : unknown).add(id);
      if (status === 204 && cancelled.size === storm) process.kill(stack.engine.pid, "SIGKILL");
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  expect(unknown.size).toBeGreaterThan(0);

  const engine = await startEngine(join(directory, "orders.db"));
  try {
    stack.proxy.target = engine.endpoint;
    const survivor = engineClient(engine.endpoint);
    // The outcome of a 503 is unknown: cancelling again, as its message says, settles it.
    for (const id of unknown) expect([204, 409]).toContain(await cancel(id));
    for (const id of ids) {
      const command = new GetItemCommand({ TableName: stack.tables.orders, Key: { id: { N: id } } });
      const { Item } = await survivor.send(command);
      expect(Item?.["status"]?.S).toBe("cancelled");
      histories.settle(id, stateOf(Item));
    }
    expect(histories.wrong).toEqual([]);
    survivor.destroy();
  } finally {
    await stack.proxy.rejectConnections();
    await engine.stop();
  }
});
