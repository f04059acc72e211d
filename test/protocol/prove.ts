// `npm run prove`: every interleaving of two cancellations and a shipment of one order, and ten bugs that they find.
import { prove } from "./proof.ts";
import { RememberedTable } from "./remembered-table.ts";

const table = await RememberedTable.start();
try {
  const problems = await prove(table, console.log);
  for (const problem of problems) console.log(`PROBLEM: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  await table.stop();
}
