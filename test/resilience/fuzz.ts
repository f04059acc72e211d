// `npm run fuzz` sends odd requests. A failure prints the seed that repeats it. `npm run soak` sends
// many more, and fails if a process's memory or handles grow in the last third.
import { Script } from "../../infra/tools/terminal/script.ts";
import { startStack } from "../helpers/start-stack.ts";
import { troubles } from "../helpers/trouble.ts";
import { fuzz, ResponseCounts } from "./traffic/fuzzing.ts";
import { growth, measureProcesses, type Sample } from "./traffic/growth.ts";

const { requests, seed, watch } = new Script("npm run fuzz --")
  .option("--requests <number>", "how many requests to send", Number, 20_000)
  .option("--seed <number>", "the same seed sends the same requests", Number, 1)
  .option("--watch", "watch the memory and the handles of each process (on Linux)")
  .parse()
  .opts<{ requests: number; seed: number; watch?: true }>();

const counts = new ResponseCounts();
const problems: string[] = [];
const samples: Sample[] = [];
await using cleanup = new AsyncDisposableStack();
const stack = await startStack(cleanup, {
  log: (line) => void problems.push(...troubles([line])),
});
for (let round = 0; counts.total < requests; round += 1) {
  // A wrong response throws.
  await fuzz(stack, seed + round, counts);
  if (watch) samples.push(...(await measureProcesses()));
  if (round % 100 === 99) console.error(`${counts.total} requests`);
}
problems.push(...growth(samples));
for (const [kind, count] of [...counts].sort()) console.log(`${kind}: ${count}`);
console.log(`${counts.total} responses`);
console.log(`wrong: ${problems.length}`);
for (const problem of problems.slice(0, 10)) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
