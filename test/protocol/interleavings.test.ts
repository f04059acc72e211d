import { afterAll, describe, expect, test } from "vitest";
import { type Actor, cancel, cancellers, shipper } from "./actors.ts";
import { exploreAll, type Found, followEach, shortestViolation } from "./explore.ts";
import { fates } from "./fates.ts";
import { Moves } from "./moves.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { RecordedClient, type Response } from "./recorded-client.ts";
import { RememberedTable } from "./remembered-table.ts";
import { starts } from "./starts.ts";

const table = await RememberedTable.start();
afterAll(() => table.stop());

const unknown = "503 service_unavailable";

describe("two cancellations and a shipment of one order, each cancellation with up to three attempts", () => {
  const moves = new Moves(table, [...cancellers(cancel), shipper]);

  test.each([
    ["pending", "204, 409 order_already_cancelled, 409 order_already_shipped", "not shipped, shipped", 11_553],
    ["cancelled", "409 order_already_cancelled", "not shipped", 3_585],
  ])(
    "keep to the contract in each of 28,910,474 interleavings when the order is %s",
    async (start, told, shipped, moments) => {
      const found = await exploreAll(moves, starts[start]);
      expect(found.violations).toEqual(new Set());
      expect(found.interleavings).toBe(28_910_474);
      // Fewer would be moments taken for the same although the contract allows them different ends.
      expect(found.moments).toBe(moments);
      // Not for want of trying: each client got every response it may get.
      for (const name of ["A", "B"]) expect(responsesTo(found, name)).toBe(`${told}, ${unknown}`);
      expect(responsesTo(found, shipper.name)).toBe(shipped);
    },
  );
});

test("every attempt of a cancellation sends the same request, byte for byte", async () => {
  const [actor] = cancellers(cancel);
  const recorded = new RecordedClient(actor.name, actor.code(new Date(0)));
  const seen = fates.flatMap((fate) => fate.seen ?? []);
  const first = await recorded.after([]);
  expect(first).toHaveProperty("sends.target", "DynamoDB_20120810.UpdateItem");
  for (const one of seen) {
    expect(await recorded.after([one])).toEqual(first);
    for (const two of seen) expect(await recorded.after([one, two])).toEqual(first);
  }
});

test("a cancellation is dated before the shipment unless it begins after it", async () => {
  const moves = new Moves(table, [cancellers(cancel)[0]]);
  const dates = async (shipDate?: string) => {
    const item = { ...starts["pending"], ...(shipDate && { shipDate: { S: shipDate } }) };
    const [delivered] = await moves.from(moves.start(item));
    return delivered?.moment.item?.["cancelledAt"]?.S;
  };
  expect(await dates()).toBe("2026-11-21T11:00:00.000Z");
  expect(await dates("2026-11-21T12:00:00.000Z")).toBe("2026-11-21T13:00:00.000Z");
});

test("a cancellation gives up after its third attempt", async () => {
  const [actor] = cancellers(cancel);
  const recorded = new RecordedClient(actor.name, actor.code(new Date(0)));
  const lost: Response[] = ["none", "none", "none"];
  expect(await recorded.after(lost)).toEqual({ tells: unknown });
});

describe("a planted bug is found", () => {
  const orderCancelledBy = (name: string, truth: string): string =>
    `the order is cancelled by ${name}; by the contract it is ${truth}`;
  const gets = (name: string, response: string, truth: string): string =>
    `${name} gets ${response}; by the contract it is ${truth}`;

  const verdicts: Record<string, string> = {
    "no condition": orderCancelledBy("B", "cancelled by A"),
    "a condition on not being shipped": orderCancelledBy("B", "cancelled by A"),
    "its own id ignored": gets("A", "409 order_already_cancelled", "204"),
    "its own id taken from the gateway's request": gets("B", "204", "409 order_already_cancelled"),
    "its own id made anew for each attempt": gets("A", "409 order_already_cancelled", "204"),
    "the status compared after a read": orderCancelledBy("A", "shipped"),
    "204 for any cancelled order": gets("B", "204", "409 order_already_cancelled"),
    "a retry judged by the first error": gets("B", "204", "409 order_already_cancelled"),
    "a late copy that wins after a ship": orderCancelledBy("A", "shipped"),
    "404 for a throttled write": gets("A", "404 order_not_found", "204"),
  };

  test.each(Object.entries(plantedBugs))("%s", async (bug, code) => {
    const path = await shortestViolation(new Moves(table, [...cancellers(code), shipper]), starts["pending"]);
    expect(path?.at(-1)?.violation).toBe(verdicts[bug]);
  });
});

describe("interleavings that come to the same moment can be followed as one: each by itself, they count and find the same", () => {
  const some = (actor: Actor, ...names: string[]): Actor => ({
    ...actor,
    fates: fates.filter(({ name }) => names.includes(name)),
  });
  const groups: [string, (a: Actor, b: Actor) => Actor[]][] = [
    ["one cancellation and the shipper", (a) => [a, shipper]],
    [
      "two cancellations with fewer fates",
      (a, b) => [some(a, "delivered late"), some(b, "delivered", "applied, its response lost")],
    ],
  ];
  const codes = Object.entries({ "the service": cancel, ...plantedBugs }).filter(([name]) =>
    ["the service", "its own id ignored", "a late copy that wins after a ship"].includes(name),
  );

  test.each(
    groups.flatMap(([group, of]) => codes.map(([name, code]) => ({ group, name, actors: of(...cancellers(code)) }))),
  )("$group, with $name", async ({ actors }) => {
    const moves = new Moves(table, actors);
    const { moments, ...merged } = await exploreAll(moves, starts["pending"]);
    const { moments: all, ...each } = await followEach(moves, moves.start(starts["pending"]), {
      interleavings: 0,
      moments: 0,
      told: new Set(),
      violations: new Set(),
    });
    expect(merged).toEqual(each);
    expect(all).toBeGreaterThan(moments);
  });
});

function responsesTo({ told }: Found, name: string): string {
  const own = [...told].filter((line) => line.startsWith(`${name}: `));
  return own
    .map((line) => line.slice(name.length + 2))
    .sort()
    .join(", ");
}
