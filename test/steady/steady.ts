// `npm run steady`: the whole suite many times in a row, some of them while every core is kept busy.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { wholeNumber } from "../helpers/number-options.ts";

const { runs, loaded, filters } = new Command("npm run steady --")
  .description("Runs the suite again and again. Exits 1 if any run fails or skips a test.")
  .addOption(wholeNumber("--runs <number>", "how many times to run it", 20))
  .addOption(wholeNumber("--loaded <number>", "how many of the runs compete with a busy process for every core", 10))
  .option("--filters <filters...>", "run only the test files that match")
  .parse()
  .opts<{ runs: number; loaded: number; filters?: string[] }>();

const logs = ".local/steady";
const children = new Set<ChildProcess>();
let stopped = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    stopped = true;
    for (const child of children) end(child);
  });
}

await mkdir(logs, { recursive: true });
let green = 0;
for (let number = 1; number <= runs && !stopped; number += 1) {
  // Spread evenly over the runs.
  const busy = Math.floor((number * loaded) / runs) > Math.floor(((number - 1) * loaded) / runs);
  if (await run(number, busy)) green += 1;
}
console.log(`${green} of ${runs} runs were green`);
process.exitCode = green < runs ? 1 : 0;

/** The parts of a report by vitest's JSON reporter that are needed here. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { name: string; status: string; assertionResults: { fullName: string; status: string }[] }[];
}

/** Runs the suite once, prints a line about it, and resolves with whether every test ran and passed. */
async function run(number: number, busy: boolean): Promise<boolean> {
  const report = join(logs, `run-${number}.json`);
  const log = join(logs, `run-${number}.log`);
  await rm(report, { force: true });
  await using output = await open(log, "w");
  const cores = busy ? availableParallelism() : 0;
  const load = Array.from({ length: cores }, () => start(process.execPath, ["-e", "for (;;);"]));
  const begun = performance.now();
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const suite = start("npm", ["test", "--", ...reporters, ...(filters ?? [])], output.fd);
  const [status] = await once(suite, "close");
  for (const child of load) end(child);
  const seconds = Math.round((performance.now() - begun) / 1000);
  const result = await readFile(report, "utf8").then(
    (text): Report => JSON.parse(text),
    () => undefined,
  );
  const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0, numTodoTests = 0 } = result ?? {};
  const skipped = numPendingTests + numTodoTests;
  const counts = `${numPassedTests} passed, ${numFailedTests} failed, ${skipped} skipped`;
  const whole = status === 0 && numPassedTests > 0 && numFailedTests + skipped === 0;
  console.log(`run ${number}, ${busy ? "loaded" : "quiet"}: ${counts}, ${seconds} s${whole ? "" : `, see ${log}`}`);
  for (const file of result?.testResults ?? []) {
    const bad = file.assertionResults.filter((test) => test.status !== "passed");
    for (const test of bad) console.log(`  ${test.status}: ${test.fullName} (${file.name})`);
    if (file.status === "failed" && bad.length === 0) console.log(`  failed: ${file.name}`);
  }
  return whole;
}

/**
 * Starts a process in a group of its own, so that ending it ends what it has started.
 *
 * @param output the file descriptor that its output goes to; none unless given.
 */
function start(command: string, args: string[], output: number | "ignore" = "ignore"): ChildProcess {
  const child = spawn(command, args, { detached: true, stdio: ["ignore", output, output] });
  children.add(child);
  child.once("close", () => children.delete(child));
  return child;
}

function end(child: ChildProcess): void {
  if (children.has(child) && child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
}
