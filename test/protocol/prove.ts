// `npm run prove` follows every interleaving, and looks for the planted bugs. The exit code is 1 after
// a violation of the contract, a bug that is missed, or interleavings that are left out.
import type { OrderItem } from "../../shared/order.ts";
import { actors, cancel } from "./actors.ts";
import { explore } from "./explore.ts";
import type { Move } from "./moves.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { startRememberedTable, starts, stateOf } from "./remembered-table.ts";

/** 28,910,474 for each of five starts. Any other number is not the search that was reviewed. */
const allInterleavings = 144_552_370;

await using running = new AsyncDisposableStack();
const table = await startRememberedTable(running);
const problems: string[] = [];
const begun = performance.now();
let interleavings = 0;
for (const [start, item] of Object.entries(starts)) {
  const found = await explore(table, actors(cancel), item);
  console.log(
    `${start}: ${count(found.interleavings)} interleavings of ${count(found.moments)} moments`,
  );
  interleavings += found.interleavings;
  if (found.violation === undefined) continue;
  console.log(story(item, found.violation));
  problems.push(`the order that is ${start}: a violation of the contract`);
}
const seconds = ((performance.now() - begun) / 1000).toFixed(1);
console.log(
  `${count(interleavings)} interleavings in ${seconds} s, ` +
    `violations of the contract: ${problems.length}`,
);
if (interleavings !== allInterleavings)
  problems.push(`${count(allInterleavings)} interleavings were expected`);

for (const [bug, code] of Object.entries(plantedBugs)) {
  const { violation } = await explore(table, actors(code), starts["pending"]);
  console.log(`\n${bug}: ${violation === undefined ? "MISSED" : "found"}`);
  if (violation === undefined) problems.push(`${bug}: missed`);
  else console.log(story(starts["pending"], violation));
}
for (const problem of problems) console.error(`PROBLEM: ${problem}`);
if (problems.length > 0) process.exitCode = 1;

function count(value: number) {
  return value.toLocaleString("en");
}

/** An interleaving in words, a line for each move. */
function story(start: OrderItem | undefined, path: readonly Move[]) {
  let before = stateOf(start);
  const lines = [`the order is ${before}`];
  for (const [index, move] of path.entries()) {
    const state = stateOf(move.moment.item);
    const parts = [describe(move, path.slice(0, index))];
    if (state !== before) parts.push(`the order is ${state}`);
    if (move.responds !== undefined && move.actor.operation.kind !== "ship")
      parts.push(`${move.actor.name} gets ${move.responds}`);
    lines.push(parts.join("; "));
    if (move.violation !== undefined) lines.push(`WRONG: ${move.violation}`);
    before = state;
  }
  return lines.map((line) => `  ${line}`).join("\n");
}

/** A move in words. An attempt is numbered by the moves before it. */
function describe({ actor, fate }: Move, before: readonly Move[]) {
  if (actor.operation.kind === "ship") return "the shipper ships";
  if (fate === undefined) return `a late copy from ${actor.name} arrives`;
  const attempts = before.filter(
    (move) => move.actor === actor && move.fate !== undefined,
  );
  return `${actor.name}, attempt ${attempts.length + 1}: ${fate.name}`;
}
