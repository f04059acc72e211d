import { execFile } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { machineHas } from "../helpers/machine.ts";
import { isAlive, processesRunning } from "../helpers/processes.ts";

const command = fileURLToPath(new URL("steady.ts", import.meta.url));
const report = (assertionResults: object[], status = "passed") => {
  const count = (wanted: string) => assertionResults.filter((result) => "status" in result && result.status === wanted);
  return JSON.stringify({
    numPassedTests: count("passed").length,
    numFailedTests: count("failed").length,
    numPendingTests: count("skipped").length,
    numTodoTests: count("todo").length,
    testResults: [{ name: "a.test.ts", status, assertionResults }],
  });
};
const passed = { fullName: "works", status: "passed" };

/** Runs `npm run steady`, but with an npm whose runs of the suite end like this. */
async function steady(runs: { report?: string; end: string }[]) {
  const folder = await mkdtemp(join(tmpdir(), "steady-"));
  await mkdir(join(folder, "bin"));
  await mkdir(join(folder, ".local/steady"), { recursive: true });
  const cases = runs.map(({ report, end }, index) => {
    const file = `.local/steady/run-${index + 1}.json`;
    const command = `test -- --reporter=default --reporter=json --outputFile.json=${file} one two`;
    return `"${command}") ${report === undefined ? "" : `printf '%s' '${report}' > ${file}; `}${end};;`;
  });
  // An earlier steady, all green, has left its reports.
  const left = runs.map((_, index) => writeFile(join(folder, `.local/steady/run-${index + 1}.json`), report([passed])));
  await Promise.all(left);
  await writeFile(join(folder, "bin", "npm"), `#!/bin/sh\ncase "$*" in\n${cases.join("\n")}\nesac\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: [join(folder, "bin"), process.env["PATH"]].join(delimiter) };
  return new Promise<{ code: unknown; lines: string[] }>((resolve) => {
    const args = [command, "--runs", String(runs.length), "--loaded", "1", "--filters", "one", "two"];
    execFile(process.execPath, args, { cwd: folder, env }, (error, stdout) =>
      resolve({
        code: error?.code ?? 0,
        lines: stdout
          .trimEnd()
          .replaceAll(/\d+ s\b/g, "N s")
          .split("\n"),
      }),
    );
  });
}

test("npm run steady exits 0 when every run passed every test", async () => {
  const green = { report: report([passed, passed]), end: "exit 0" };
  expect(await steady([green, green])).toEqual({
    code: 0,
    lines: [
      "run 1, quiet: 2 passed, 0 failed, 0 skipped, N s",
      "run 2, loaded: 2 passed, 0 failed, 0 skipped, N s",
      "2 of 2 runs were green",
    ],
  });
});

test("npm run steady exits 1 when a run failed, crashed, or skipped a test, and says which", async () => {
  const runs = [
    { report: report([passed]), end: "exit 0" },
    { report: report([passed, { fullName: "breaks", status: "failed" }], "failed"), end: "exit 1" },
    { report: report([passed, { fullName: "is left out", status: "skipped" }]), end: "exit 0" },
    { report: report([passed, { fullName: "is to come", status: "todo" }]), end: "exit 0" },
    { report: report([passed, { fullName: "breaks", status: "failed" }]), end: "exit 0" },
    { report: report([], "failed"), end: "exit 1" },
    // A crash, before the report and after it.
    { end: "kill -9 $$" },
    { report: report([passed]), end: "kill -9 $$" },
    { end: "exit 0" },
  ];
  const log = (run: number): string => `, N s, see .local/steady/run-${run}.log`;
  expect(await steady(runs)).toEqual({
    code: 1,
    lines: [
      "run 1, quiet: 1 passed, 0 failed, 0 skipped, N s",
      `run 2, quiet: 1 passed, 1 failed, 0 skipped${log(2)}`,
      "  failed: breaks (a.test.ts)",
      `run 3, quiet: 1 passed, 0 failed, 1 skipped${log(3)}`,
      "  skipped: is left out (a.test.ts)",
      `run 4, quiet: 1 passed, 0 failed, 1 skipped${log(4)}`,
      "  todo: is to come (a.test.ts)",
      `run 5, quiet: 1 passed, 1 failed, 0 skipped${log(5)}`,
      "  failed: breaks (a.test.ts)",
      `run 6, quiet: 0 passed, 0 failed, 0 skipped${log(6)}`,
      "  failed: a.test.ts",
      `run 7, quiet: 0 passed, 0 failed, 0 skipped${log(7)}`,
      `run 8, quiet: 1 passed, 0 failed, 0 skipped${log(8)}`,
      `run 9, loaded: 0 passed, 0 failed, 0 skipped${log(9)}`,
      "1 of 9 runs were green",
    ],
  });
});

const seesProcesses = machineHas("/proc or ps", "what npm run steady starts and ends");

test.runIf(seesProcesses).each([
  ["SIGINT", "2", availableParallelism()],
  ["SIGTERM", "0", 0],
] as const)("npm run steady ends all that it has started at %s, with %s loaded runs", async (signal, loaded, cores) => {
  const folder = await mkdtemp(join(tmpdir(), "steady-"));
  // What holds the pipe open has not ended.
  await writeFile(join(folder, "npm"), "#!/bin/sh\nsleep 600 > pipe & echo $! > pipe; wait\n", { mode: 0o755 });
  await promisify(execFile)("mkfifo", [join(folder, "pipe")]);
  const env = { ...process.env, PATH: [folder, process.env["PATH"]].join(delimiter) };
  const running = execFile(process.execPath, [command, "--runs", "2", "--loaded", loaded], { cwd: folder, env });
  const ended = once(running, "exit");
  const pipe = createReadStream(join(folder, "pipe"), "utf8");
  const pid = Number((await once(pipe, "data"))[0]);
  onTestFinished(() => void (isAlive(pid) && process.kill(pid)));
  const busy = await processesRunning("for (;;);", running.pid ?? 0);
  onTestFinished(() => busy.filter(isAlive).forEach((pid) => void process.kill(pid, "SIGKILL")));
  expect(busy).toHaveLength(cores);
  running.kill(signal);
  expect(await ended).toEqual([1, null]);
  await expect.poll(() => [pipe.readableEnded, busy.filter(isAlive)], { timeout: 10_000 }).toEqual([true, []]);
});

test("npm run steady takes whole numbers only", async () => {
  const run = promisify(execFile)(process.execPath, [command, "--runs", "many"]);
  await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("Not a whole number.") });
});
