// `npm run prove`: every interleaving of two cancellations and a shipment of one order, and ten bugs that they find.
import { stateOf } from "../helpers/history/state.ts";
import { cancel, cancellers, shipper } from "./actors.ts";
import { exploreAll, shortestViolation } from "./explore.ts";
import { Moves } from "./moves.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { RememberedTable } from "./remembered-table.ts";
import { starts } from "./starts.ts";
import { story } from "./story.ts";

const table = await RememberedTable.start();
try {
  const begun = performance.now();
  const moves = new Moves(table, [...cancellers(cancel), shipper]);
  let interleavings = 0;
  let violations = 0;
  for (const [start, item] of Object.entries(starts)) {
    const found = await exploreAll(moves, item);
    console.log(`${start}: ${number(found.interleavings)} interleavings of ${number(found.moments)} moments`);
    interleavings += found.interleavings;
    violations += found.violations.size;
    for (const violation of found.violations) console.log(`  WRONG: ${violation}`);
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`${number(interleavings)} interleavings in ${seconds} s, violations of the contract: ${violations}`);
  console.log(`cancelOrder was run with ${moves.sequences} sequences of responses`);

  let missed = 0;
  for (const [bug, code] of Object.entries(plantedBugs)) {
    const path = await shortestViolation(new Moves(table, [...cancellers(code), shipper]), starts["pending"]);
    console.log(`\n${bug}: ${path === undefined ? "MISSED" : "found"}`);
    if (path === undefined) missed += 1;
    else console.log(story(stateOf(starts["pending"]), path));
  }
  if (violations + missed > 0) process.exitCode = 1;
} finally {
  await table.stop();
}

function number(value: number): string {
  return value.toLocaleString("en");
}
