import { afterAll, describe, expect, test } from "vitest";
import { actors, cancel } from "./actors.ts";
import { explore } from "./explore.ts";
import { startRememberedTable, starts } from "./remembered-table.ts";

const table = await startRememberedTable();
afterAll(() => table.stop());

describe("two cancellations of up to three attempts and a shipment of one order", () => {
  test.each([
    {
      start: "pending",
      cancellations: ["204", "409 order_already_cancelled", "409 order_already_shipped"],
      shipments: ["shipped", "not shipped"],
      moments: 11_553,
    },
    {
      start: "cancelled",
      cancellations: ["409 order_already_cancelled"],
      shipments: ["not shipped"],
      moments: 3_585,
    },
  ])(
    "keep to the contract in each of 28,910,474 interleavings when the order is $start",
    async ({ start, cancellations, shipments, moments }) => {
      const found = await explore(table, actors(cancel), starts[start]);
      expect(found.violation).toBeUndefined();
      expect(found.interleavings).toBe(28_910_474);
      // With fewer, the search would take moments for the same that can end in different ways.
      expect(found.moments).toBe(moments);
      // The search reached them all: each client got every response that it may get.
      const responses = [...cancellations, "503 service_unavailable"];
      expect(found.responses).toEqual(
        new Set([
          ...responses.map((response) => `A: ${response}`),
          ...responses.map((response) => `B: ${response}`),
          ...shipments.map((response) => `the shipper: ${response}`),
        ]),
      );
    },
  );
});
