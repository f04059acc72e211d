import { expect, test } from "vitest";
import { beforeTests } from "../helpers/before-tests.ts";
import { actors, cancel } from "./actors.ts";
import { explore } from "./explore.ts";
import { startRememberedTable, starts } from "./remembered-table.ts";

const table = beforeTests(startRememberedTable);

test.each([
  ["pending", 10_305],
  ["cancelled", 3_585],
])(
  "two cancellations and a shipment keep to the contract in every interleaving when the order is %s",
  async (start, moments) => {
    // Another number of moments would mean that different ones were taken for the same, or that
    // clients got other responses.
    expect(await explore(table, actors(cancel), starts[start])).toEqual({
      interleavings: 28_910_474,
      moments,
    });
  },
);
