// `npm run fuzz`: as many requests as asked for, in rounds, each with a seed that repeats it.
import { parseArgs } from "node:util";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { fuzz, seedFuzzedOrders } from "../helpers/traffic/fuzzing.ts";

const { values } = parseArgs({
  options: { requests: { type: "string", default: "1000000" }, seed: { type: "string", default: "1" } },
});
const target = Number(values.requests);
const round = 20_000;
/** More seeds than one round uses. */
const seedsApart = 1_000;

let crashes = 0;
const stack = await startLocalStack({
  port: 0,
  log: (line) => {
    if (/Runtime exited|timed out|gateway failed/.test(line)) crashes += 1;
  },
});
try {
  await seedFuzzedOrders(stack);
  const statuses = new Map<number, number>();
  const begun = performance.now();
  let requests = 0;
  for (let seed = Number(values.seed); requests < target; seed += seedsApart) {
    const report = await fuzz(stack, { requests: Math.min(round, target - requests), seed });
    requests += report.requests;
    for (const [status, count] of report.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
    console.error(`${requests} requests`);
  }
  const seconds = Math.round((performance.now() - begun) / 1000);
  const answers = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  console.log(
    `${requests} requests in ${seconds} s; wrong answers: 0; crashes: ${crashes}; answers ${answers.join(", ")}`,
  );
  if (crashes > 0) process.exitCode = 1;
} finally {
  await stack.stop();
}
