// `npm run prove`: every interleaving of two cancellations and a shipment of one order, and ten bugs that they find.
import { failWith } from "../helpers/fail-with.ts";
import { prove } from "./proof.ts";
import { RememberedTable } from "./remembered-table.ts";

const table = await RememberedTable.start();
try {
  const problems = await prove(table, console.log);
  failWith(problems.map((problem) => `PROBLEM: ${problem}`));
} finally {
  await table.stop();
}
