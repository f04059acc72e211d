import type { Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { hashApiKey } from "../../shared/api-keys.ts";
import { type Behaviour, type EngineCall, passOn } from "../helpers/faults/fault-proxy.ts";
import { faults } from "../helpers/faults/faults.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";
import { troubles } from "../helpers/trouble.ts";

let stack: FaultyStack | undefined;
afterEach(() => stack?.stop());

/** Whether a function makes this call as it starts, rather than for a request. */
function isAtStart({ operation, input }: EngineCall): boolean {
  if (operation === "UpdateItem") return input.includes("attribute_type");
  return operation === "Scan" ? input.includes('"Limit"') : input.includes(hashApiKey(""));
}

/** Sends the first requests while no function has a process, and expects them to be served. */
async function expectFirstRequestsServed(running: FaultyStack): Promise<void> {
  await running.putOrder({ id: { N: "5001" }, status: { S: "pending" } });
  expect((await running.call("/store/orders/5001", { method: "DELETE" })).status).toBe(204);
  const { status, body } = await running.call("/store/orders");
  expect(status).toBe(200);
  expect(JSON.parse(body)).toHaveLength(running.seeded + 1);
}

describe("the first request to a function", () => {
  test("goes to the table over the connection that its process opened as it started", async () => {
    const operations = ["GetItem", "UpdateItem", "Scan"];
    const calls = new Map<Socket | null, { operation: string; atStart: boolean }[]>();
    let readyInTime = new Set<string>();
    for (let tries = 3; tries > 0 && readyInTime.size < operations.length; tries -= 1) {
      await stack?.stop();
      calls.clear();
      readyInTime = new Set();
      stack = await startFaultyStack((call) => {
        const { operation, input, attempt } = call;
        // The others are the stack's own, a Scan of the keys included, or repeat one that this machine was too slow for.
        const ofFunctions = operations.includes(operation) && !(operation === "Scan" && input.includes("ApiKeys"));
        if (!ofFunctions || attempt > 1) return undefined;
        return async (exchange) => {
          const { socket } = exchange.response;
          const atStart = isAtStart(call);
          calls.set(socket, [...(calls.get(socket) ?? []), { operation, atStart }]);
          // A start that this machine is too slow for gives up its call, and the request needs another connection.
          if (atStart) exchange.response.once("finish", () => readyInTime.add(operation));
          await passOn(exchange);
        };
      });
      await expectFirstRequestsServed(stack);
    }
    const startAndRequest = (operation: string) => [true, false].map((atStart) => ({ operation, atStart }));
    expect([...calls.values()]).toEqual(operations.map(startAndRequest));
  });

  test.each(["no response", "throttled by the table"])(
    "is served although the table's response to the process's start was: %s",
    async (name) => {
      const fault: Behaviour | undefined = faults[name];
      stack = await startFaultyStack((call) => (isAtStart(call) ? fault : undefined));
      await expectFirstRequestsServed(stack);
      // No process died at its start or logged a failure, and each warned once.
      expect(troubles(stack.log)).toEqual([]);
      expect(stack.log.filter((line) => line.includes('"not_ready"'))).toHaveLength(3);
    },
  );
});
