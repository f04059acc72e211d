// `npm run fuzz` sends odd requests. A failure prints the seed that repeats it. `npm run soak` sends
// many more, and fails if a process's memory or handles grow in the last third.
import { Script } from "../../infra/tools/terminal/script.ts";
import { fuzz } from "./traffic/fuzzing.ts";
import { growth, measureProcesses, type Sample } from "./traffic/growth.ts";
import { runTraffic } from "./traffic/run-traffic.ts";

const { requests, seed, watch } = new Script("npm run fuzz --")
  .option("--requests <number>", "how many requests to send", Number, 20_000)
  .option("--seed <number>", "the same seed sends the same requests", Number, 1)
  .option("--watch", "watch the memory and the handles of each process (on Linux)")
  .parse()
  .opts<{ requests: number; seed: number; watch?: true }>();

// A wrong response throws.
await runTraffic(async (stack, counts, problems) => {
  const samples: Sample[] = [];
  for (let round = 0; counts.total < requests; round += 1) {
    await fuzz(stack, seed + round, counts);
    if (watch) samples.push(...(await measureProcesses()));
    if (round % 100 === 99) console.error(`${counts.total} requests`);
  }
  problems.push(...growth(samples));
});
