// `npm run fuzz`: as many odd requests as asked for, every response checked. A failure prints the seed that repeats it.
import { Command } from "commander";
import { wholeNumber } from "../helpers/number-options.ts";
import { conclude } from "../helpers/traffic/conclude.ts";
import { fuzz } from "../helpers/traffic/fuzzing.ts";

const { requests, seed } = new Command("npm run fuzz --")
  .addOption(wholeNumber("--requests <number>", "how many requests to send", 1_000_000))
  .addOption(wholeNumber("--seed <number>", "the same seed sends the same requests", 1))
  .parse()
  .opts<{ requests: number; seed: number }>();

await conclude(async (stack) => {
  let reported = 0;
  const counts = await fuzz(stack, {
    requests,
    seed,
    onRound: (sent) => {
      if (sent - reported < requests / 20) return;
      reported = sent;
      console.error(`${sent} requests`);
    },
  });
  // A wrong response throws.
  return { lines: [...counts.lines(), `${counts.total} requests`], wrong: [] };
});
