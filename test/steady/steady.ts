// `npm run steady` runs the whole suite many times in a row, some of them while every core is kept
// busy.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { JsonTestResults } from "vitest/node";
import { Script } from "../../infra/tools/terminal/script.ts";

const { runs, loaded } = new Script("npm run steady --")
  .description(
    "Runs the suite again and again. Exits 1 if any run fails or skips a test.",
  )
  .option("--runs <number>", "how many times to run it", Number, 20)
  .option(
    "--loaded <number>",
    "how many of the runs compete with a busy thread for every core",
    Number,
    10,
  )
  .parse()
  .opts<{ runs: number; loaded: number }>();

const logs = ".local/steady";
await mkdir(logs, { recursive: true });
let green = 0;
for (let number = 1; number <= runs; number += 1) {
  // Spread evenly over all runs.
  const isLoaded = (number * loaded) % runs < loaded;
  if (await run(number, isLoaded)) green += 1;
}
console.log(`${green} of ${runs} runs were green`);
process.exitCode = green > 0 && green === runs ? 0 : 1;

/** Runs the suite once, prints how it went, and resolves with whether every test ran and passed. */
async function run(number: number, isLoaded: boolean) {
  const reportFile = join(logs, `run-${number}.json`);
  const logFile = join(logs, `run-${number}.log`);
  await rm(reportFile, { force: true });
  const busyThreads = Array.from(
    { length: isLoaded ? availableParallelism() : 0 },
    () => new Worker("for (;;);", { eval: true }),
  );
  const begun = performance.now();
  await using output = await open(logFile, "w");
  const reporters = [
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${reportFile}`,
  ];
  const suite = spawn("npm", ["test", "--", ...reporters], {
    stdio: ["ignore", output.fd, output.fd],
  });
  const [status] = await once(suite, "close");
  await Promise.all(busyThreads.map((thread) => thread.terminate()));
  const seconds = Math.round((performance.now() - begun) / 1000);

  // A run may end before it writes its report.
  const { testResults }: Pick<JsonTestResults, "testResults"> = await readFile(
    reportFile,
    "utf8",
  ).then(JSON.parse, () => ({ testResults: [] }));
  const tests = testResults.flatMap((file) => file.assertionResults);
  const problems = tests.filter((test) => test.status !== "passed");
  const isGreen = status === 0 && tests.length > 0 && problems.length === 0;
  const counts = `${tests.length} tests, ${problems.length} not passed`;
  const line = `run ${number}, ${isLoaded ? "loaded" : "quiet"}: ${counts}, ${seconds} s`;
  console.log(isGreen ? line : `${line}, see ${logFile}`);
  for (const test of problems) console.log(`  ${test.status}: ${test.fullName}`);
  return isGreen;
}
