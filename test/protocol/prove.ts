// `npm run prove`: every interleaving of two cancellations and a shipment of one order, and ten bugs that they find.
import { prove } from "./proof.ts";
import { RememberedTable } from "./remembered-table.ts";

const table = await RememberedTable.start();
try {
  await prove(table);
} finally {
  await table.stop();
}
