// `npm run prove`: follows every interleaving of two cancellations and a shipment of one order, looks for the planted bugs,
// and prints a line about each. Any problem makes the exit code 1: a violation of the contract, a bug that is missed,
// interleavings that are left out.

import { cancel, cancellers, shipper } from "./actors.ts";
import { exploreAll, shortestViolation } from "./explore.ts";
import { Moves } from "./moves.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { RememberedTable } from "./remembered-table.ts";
import { starts, stateOf } from "./starts.ts";
import { story } from "./story.ts";

/** Five starts of the same 28,910,474 interleavings: if there are others, the search is not the one that was reviewed. */
const allInterleavings = 144_552_370;

const table = await RememberedTable.start();
const problems: string[] = [];
const begun = performance.now();
const moves = new Moves(table, [...cancellers(cancel), shipper]);
let interleavings = 0;
for (const [start, item] of Object.entries(starts)) {
  const found = await exploreAll(moves, item);
  console.log(`${start}: ${number(found.interleavings)} interleavings of ${number(found.moments)} moments`);
  interleavings += found.interleavings;
  for (const violation of found.violations) problems.push(`${start}: ${violation}`);
}
for (const violation of problems) console.log(`  WRONG: ${violation}`);
const seconds = ((performance.now() - begun) / 1000).toFixed(1);
console.log(`${number(interleavings)} interleavings in ${seconds} s, violations of the contract: ${problems.length}`);
console.log(`cancelOrder was run with ${moves.sequences} sequences of responses`);
if (interleavings !== allInterleavings) {
  problems.push(`${number(allInterleavings)} interleavings were expected`);
}

for (const [bug, code] of Object.entries(plantedBugs)) {
  const path = await shortestViolation(new Moves(table, [...cancellers(code), shipper]), starts["pending"]);
  console.log(`\n${bug}: ${path === undefined ? "MISSED" : "found"}`);
  if (path === undefined) problems.push(`${bug}: missed`);
  else console.log(story(stateOf(starts["pending"]), path));
}
for (const problem of problems) console.error(`PROBLEM: ${problem}`);
if (problems.length > 0) process.exitCode = 1;
await table.stop();

function number(value: number): string {
  return value.toLocaleString("en");
}
