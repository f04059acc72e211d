import { afterAll, describe, expect, test } from "vitest";
import { cancel, cancellers, shipper } from "./actors.ts";
import { explore } from "./explore.ts";
import { Moves } from "./moves.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { RememberedTable, starts } from "./remembered-table.ts";

const table = await RememberedTable.start();
afterAll(() => table.stop());

describe("two cancellations and a shipment of one order, each cancellation with up to three attempts", () => {
  const moves = new Moves(table, [...cancellers(cancel), shipper]);

  test.each([
    [
      "pending",
      ["204", "409 order_already_cancelled", "409 order_already_shipped"],
      ["shipped", "not shipped"],
      11_553,
    ],
    ["cancelled", ["409 order_already_cancelled"], ["not shipped"], 3_585],
  ])(
    "keep to the contract in each of 28,910,474 interleavings when the order is %s",
    async (start, told, shipped, moments) => {
      const found = await explore(moves, starts[start]);
      expect(found.violation).toBeUndefined();
      expect(found.interleavings).toBe(28_910_474);
      // Fewer would be moments taken for the same although the contract allows them different ends.
      expect(found.moments).toBe(moments);
      // Not for want of trying: each client got every response it may get.
      const cancellations = [...told, "503 service_unavailable"].flatMap((response) => [
        `A: ${response}`,
        `B: ${response}`,
      ]);
      const shipments = shipped.map((response) => `${shipper.name}: ${response}`);
      expect(found.told).toEqual(new Set([...cancellations, ...shipments]));
    },
  );
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
    const { violation } = await explore(
      new Moves(table, [...cancellers(code), shipper]),
      starts["pending"],
    );
    expect(violation?.at(-1)?.violation).toBe(verdicts[bug]);
  });
});
