// `npm run fuzz`: as many odd requests as asked for, every response checked. A failure prints the seed that repeats it.
import { Command } from "commander";
import type { LocalStack } from "../../infra/local/local-stack.ts";
import { wholeNumber } from "../helpers/number-options.ts";
import { startStack } from "../helpers/start-stack.ts";
import { fuzz } from "../helpers/traffic/fuzzing.ts";
import { conclude, type Findings } from "../helpers/traffic/verdict.ts";

const { requests, seed } = new Command("npm run fuzz --")
  .addOption(wholeNumber("--requests <number>", "how many requests to send", 1_000_000))
  .addOption(wholeNumber("--seed <number>", "the same seed sends the same requests", 1))
  .parse()
  .opts<{ requests: number; seed: number }>();

const traffic = async (stack: LocalStack): Promise<Findings> => {
  const begun = performance.now();
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
  const seconds = Math.round((performance.now() - begun) / 1000);
  // A wrong response throws.
  const summary = `${counts.total} requests in ${seconds} s; wrong responses: 0; crashes`;
  return { summary, lines: counts.lines(), responses: counts.total, wrong: [] };
};

await conclude((log) => startStack({ log }), traffic);
