import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FaultyStack, startFaultyStack } from "../helpers/faults/faulty-stack.ts";
import { Door, meetings, predict, type Race, run } from "../helpers/faults/race.ts";

const clients = 3;
const racesAtOnce = 2;
const numRuns = 60;
/** How often a race is run again because this machine was too slow for it. */
const triesPerRace = 10;

const doors = new Map<string, Door>();
const keys: string[] = [];
let stack: FaultyStack;
beforeAll(async () => {
  // All clients of the races under way may stand at a door at once, each in a process of its own.
  stack = await startFaultyStack(
    (call) => doors.get(/"id":\{"N":"(\d+)"\}/.exec(call.input)?.[1] ?? "")?.choose(call),
    { maxEnvironments: clients * racesAtOnce, clock: () => 0 },
  );
  for (let index = 0; index < clients; index += 1) keys.push(await stack.putKey({ keyId: `client_${index}` }));
});
afterAll(() => stack?.stop());

const meeting = fc.constantFrom(...Object.keys(meetings));
const races: fc.Arbitrary<Race> = fc.record({
  cancels: fc.array(fc.array(meeting, { maxLength: 3 }), { minLength: 1, maxLength: clients }),
  ships: fc.nat(2),
  turns: fc.array(fc.nat(11), { minLength: 1, maxLength: 12 }),
});

/** Starts a process for every client who may be at work at once, so that no one waits at a door for one to start. */
async function startProcesses(): Promise<void> {
  const call = (key: string) => stack.call("/store/orders/none", { method: "DELETE" }, key);
  // Admitted once, a key stays in the authorizer's cache: one process is enough.
  for (const key of keys) await call(key);
  await Promise.all(Array.from({ length: racesAtOnce }, () => keys.map(call)).flat());
}

let lastId = 10_000;
async function race(given: Race, tries = triesPerRace) {
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
  if (door.tooSlow && tries > 1) return race(given, tries - 1);
  expect(door.tooSlow).toBe(false);
  const { status, cancelledBy } = (await stack.order(id)) ?? {};
  return { ...outcome, status: status?.S, winner: cancelledBy?.S };
}

test("when clients race to cancel and to ship an order, one wins and every response is true, whatever attempts are lost", async () => {
  await startProcesses();
  const waiting = fc.sample(races, { numRuns, seed: 1 });
  const lane = async (): Promise<void> => {
    for (let given = waiting.pop(); given !== undefined; given = waiting.pop()) {
      const { winner, ...predicted } = predict(given);
      const expected = { ...predicted, winner: winner === undefined ? undefined : `client_${winner}` };
      expect(await race(given), JSON.stringify(given)).toEqual(expected);
    }
  };
  await Promise.all(Array.from({ length: racesAtOnce }, lane));
});
