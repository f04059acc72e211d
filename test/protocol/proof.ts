import type { OrderItem } from "../../shared/order.ts";
import { failWith } from "../helpers/fail-with.ts";
import { stateOf } from "../helpers/history/state.ts";
import { type Actor, type Cancel, cancel, cancellers, shipper } from "./actors.ts";
import { exploreAll, shortestViolation } from "./explore.ts";
import { Moves } from "./moves.ts";
import { plantedBugs } from "./planted-bugs.ts";
import type { RememberedTable } from "./remembered-table.ts";
import { starts } from "./starts.ts";
import { story } from "./story.ts";

export interface Proof {
  /** The cancellation that is proven. */
  code: Cancel;
  /** The order as it may be at first. */
  starts: Record<string, OrderItem | undefined>;
  /** Cancellations that the search must find wrong. */
  bugs: Record<string, Cancel>;
  /** How many interleavings there are in all. */
  interleavings: number;
  /** Who acts on the order, the cancellations by this code. */
  actors(code: Cancel): Actor[];
}

/** Five starts of the same 28,910,474 interleavings: if there are others, the search is not the one that was reviewed. */
export const allInterleavings = 144_552_370;

/**
 * Follows every interleaving of two cancellations and a shipment of one order, looks for the planted bugs, and prints a
 * line about each. Any problem makes the exit code 1: a violation of the contract, a bug that is missed, interleavings
 * that are left out.
 */
export async function prove(
  table: RememberedTable,
  proof: Proof = {
    code: cancel,
    starts,
    bugs: plantedBugs,
    interleavings: allInterleavings,
    actors: (code) => [...cancellers(code), shipper],
  },
): Promise<void> {
  const problems: string[] = [];
  const begun = performance.now();
  const moves = new Moves(table, proof.actors(proof.code));
  let interleavings = 0;
  for (const [start, item] of Object.entries(proof.starts)) {
    const found = await exploreAll(moves, item);
    console.log(`${start}: ${number(found.interleavings)} interleavings of ${number(found.moments)} moments`);
    interleavings += found.interleavings;
    for (const violation of found.violations) problems.push(`${start}: ${violation}`);
  }
  for (const violation of problems) console.log(`  WRONG: ${violation}`);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`${number(interleavings)} interleavings in ${seconds} s, violations of the contract: ${problems.length}`);
  console.log(`cancelOrder was run with ${moves.sequences} sequences of responses`);
  if (interleavings !== proof.interleavings) {
    problems.push(`${number(proof.interleavings)} interleavings were expected`);
  }

  for (const [bug, code] of Object.entries(proof.bugs)) {
    const path = await shortestViolation(new Moves(table, proof.actors(code)), starts["pending"]);
    console.log(`\n${bug}: ${path === undefined ? "MISSED" : "found"}`);
    if (path === undefined) problems.push(`${bug}: missed`);
    else console.log(story(stateOf(starts["pending"]), path));
  }
  failWith(problems.map((problem) => `PROBLEM: ${problem}`));
}

function number(value: number): string {
  return value.toLocaleString("en");
}
