import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engineClient } from "../../infra/local/engine/client.ts";
import { hashApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";
import { putApiKey } from "../helpers/faults/put-api-key.ts";
import { Door, meetings, predict, type Race, run } from "../helpers/faults/race.ts";

const clients = 3;
const lanes = 4;
const racesPerLane = 30;

const doors = new Map<string, Door>();
const keys: string[] = [];
let stack: FaultyStack;
beforeAll(async () => {
  // Everyone of every lane may stand at a door at once, each in a process of their own.
  stack = await startFaultyStack(
    (call) => doors.get(/"id":\{"N":"(\d+)"\}/.exec(call.input)?.[1] ?? "")?.choose(call),
    { maxEnvironments: clients * lanes },
  );
  const client = engineClient(stack.engine.endpoint);
  for (let index = 0; index < clients; index += 1) {
    const key = makeApiKey("pets_test");
    keys.push(key);
    const record = { keyHash: hashApiKey(key), keyId: `client_${index}`, name: "racer", createdAt: 0 };
    await putApiKey(client, stack.tables.apiKeys, record);
  }
  client.destroy();
});
afterAll(() => stack?.stop());

const meeting = fc.constantFrom(...Object.keys(meetings));
const races: fc.Arbitrary<Race> = fc.record({
  cancels: fc.array(fc.array(meeting, { maxLength: 3 }), { minLength: 1, maxLength: clients }),
  ships: fc.nat(2),
  turns: fc.array(fc.nat(11), { minLength: 1, maxLength: 12 }),
});

let lastId = 10_000;
async function race(given: Race) {
  lastId += 1;
  const id = String(lastId);
  await stack.putOrder({ id: { N: id }, status: { S: "pending" } });
  const door = new Door();
  doors.set(id, door);
  const outcome = await run(given, door, {
    cancel: async (client) => {
      const { status, body } = await stack.call(`/store/orders/${id}`, { method: "DELETE" }, keys[client] ?? null);
      return status === 204 ? "204" : `${status} ${JSON.parse(body).code}`;
    },
    ship: () => stack.ship(id),
  });
  const { status, cancelledBy } = (await stack.order(id)) ?? {};
  return { ...outcome, status: status?.S, winner: cancelledBy?.S };
}

describe.concurrent("of any cancellations and shipments that race for an order, whatever happens to their attempts", () => {
  test.each(Array.from({ length: lanes }, (_, lane) => lane))(
    `exactly one wins, and every answer is true of the final state (lane %i of ${lanes})`,
    async () => {
      await fc.assert(
        fc.asyncProperty(races, async (given) => {
          const { winner, ...predicted } = predict(given);
          expect(await race(given)).toEqual({
            ...predicted,
            winner: winner === undefined ? undefined : `client_${winner}`,
          });
        }),
        { numRuns: racesPerLane },
      );
    },
  );
});
