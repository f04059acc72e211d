// `npm run steady`: the whole suite many times in a row, some of them while every core is kept
// busy.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { Command } from "commander";

const { runs, loaded, filters } = new Command("npm run steady --")
  .description("Runs the suite again and again. Exits 1 if any run fails or skips a test.")
  .option("--runs <number>", "how many times to run it", Number, 20)
  .option(
    "--loaded <number>",
    "how many of the runs compete with a busy thread for every core",
    Number,
    10,
  )
  .option("--filters <filters...>", "run only the test files that match", [])
  .parse()
  .opts<{ runs: number; loaded: number; filters: string[] }>();

const logs = ".local/steady";
await mkdir(logs, { recursive: true });
let green = 0;
for (let number = 1; number <= runs; number += 1) {
  // Spread evenly over the runs.
  const busy = Math.floor((number * loaded) / runs) > Math.floor(((number - 1) * loaded) / runs);
  if (await run(number, busy)) green += 1;
}
console.log(`${green} of ${runs} runs were green`);
process.exitCode = green > 0 && green === runs ? 0 : 1;

/** The parts of a report by vitest's JSON reporter that are needed here. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: {
    name: string;
    status: string;
    assertionResults: { fullName: string; status: string }[];
  }[];
}

/**
 * Runs the suite once, prints a line about it, and resolves with whether every test ran and passed.
 */
async function run(number: number, busy: boolean): Promise<boolean> {
  const report = join(logs, `run-${number}.json`);
  const log = join(logs, `run-${number}.log`);
  await rm(report, { force: true });
  await using output = await open(log, "w");
  const load = Array.from(
    { length: busy ? availableParallelism() : 0 },
    () => new Worker("for (;;);", { eval: true }),
  );
  const begun = performance.now();
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const suite = spawn("npm", ["test", "--", ...reporters, ...filters], {
    stdio: ["ignore", output.fd, output.fd],
  });
  const [status] = await once(suite, "close");
  await Promise.all(load.map((thread) => thread.terminate()));
  const seconds = Math.round((performance.now() - begun) / 1000);
  const nothing = {
    numPassedTests: 0,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    testResults: [],
  };
  const result: Report = await readFile(report, "utf8").then(JSON.parse, () => nothing);
  const { numPassedTests, numFailedTests } = result;
  const skipped = result.numPendingTests + result.numTodoTests;
  const counts = `${numPassedTests} passed, ${numFailedTests} failed, ${skipped} skipped`;
  const whole = status === 0 && numPassedTests > 0 && numFailedTests + skipped === 0;
  const end = whole ? "" : `, see ${log}`;
  console.log(`run ${number}, ${busy ? "loaded" : "quiet"}: ${counts}, ${seconds} s${end}`);
  for (const file of result.testResults) {
    const bad = file.assertionResults.filter((test) => test.status !== "passed");
    for (const test of bad) console.log(`  ${test.status}: ${test.fullName} (${file.name})`);
    if (file.status === "failed" && bad.length === 0) console.log(`  failed: ${file.name}`);
  }
  return whole;
}
