import { afterAll, describe, expect, test } from "vitest";
import { cancel, cancellers, shipper } from "./actors.ts";
import { explore } from "./explore.ts";
import { Moves } from "./moves.ts";
import { RememberedTable, starts } from "./remembered-table.ts";

const table = await RememberedTable.start();
afterAll(() => table.stop());

describe("two cancellations of up to three attempts and a shipment of one order", () => {
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
