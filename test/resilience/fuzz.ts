// `npm run fuzz` sends odd requests. A failure prints the seed that repeats it.
import { Script } from "../../infra/tools/terminal/script.ts";
import { fuzz } from "./traffic/fuzzing.ts";
import { runTraffic } from "./traffic/run-traffic.ts";

const { requests, seed } = new Script("npm run fuzz --")
  .option("--requests <number>", "how many requests to send", Number, 20_000)
  .option("--seed <number>", "the same seed sends the same requests", Number, 1)
  .parse()
  .opts<{ requests: number; seed: number }>();

// A wrong response throws.
await runTraffic(async (stack, counts) => {
  for (let round = 0; counts.total < requests; round += 1) {
    await fuzz(stack, seed + round, counts);
    if (round % 100 === 99) console.error(`${counts.total} requests`);
  }
});
