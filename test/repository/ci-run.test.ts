import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const whole = { numPassedTests: 7, numFailedTests: 0, numPendingTests: 0 };

/** Notes what it is asked for, and where. `npm test` leaves a report. */
const standIn = `#!/bin/sh
echo "$PWD/: \${0##*/} $*" >> "$CALLS"
for word; do case "$word" in --outputFile.json=*) printf '%s' "$REPORT" > "\${word#*=}";; esac; done
[ "\${0##*/} $1 $2" != "$FAILING" ]
`;

interface Outcome {
  /** The commands of npm and apt-get, as they came. */
  calls: string[];
  code: unknown;
  lastLine: string | undefined;
}

/** Runs `.ci/run` from another folder, where one command fails, if any, and the tests end with this report. */
async function run(report: object | undefined, failing = "none", browser = "chromium"): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "ci-run-"));
  for (const name of ["npm", "apt-get", browser]) await writeFile(join(folder, name), standIn, { mode: 0o755 });
  // Nothing else is on the path, so the machine's own browser is not, either.
  for (const name of ["bash", "dirname", "mktemp", "rm"]) {
    const path = [`/bin/${name}`, `/usr/bin/${name}`].find((file) => existsSync(file)) ?? name;
    await symlink(path, join(folder, name));
  }
  await symlink(process.execPath, join(folder, "node"));
  const env = {
    PATH: folder,
    CALLS: join(folder, "calls"),
    REPORT: report === undefined ? "" : JSON.stringify(report),
    FAILING: failing,
  };
  const [code, stdout] = await new Promise<[unknown, string]>((resolve) =>
    execFile(`${root}.ci/run`, { cwd: folder, env }, (error, output) => resolve([error?.code ?? 0, output])),
  );
  const calls = (await readFile(env.CALLS, "utf8")).trimEnd().split("\n");
  const [reportFile] = calls.flatMap((call) => /--outputFile\.json=(\S+)/.exec(call)?.[1] ?? []);
  expect([reportFile, existsSync(reportFile ?? "")]).toEqual([reportFile, false]);
  return {
    calls: calls.map((call) => call.replace(`${root}: `, "").replace(/(?<=--outputFile\.json=)\S+/, "REPORT")),
    code,
    lastLine: stdout.trimEnd().split("\n").at(-1),
  };
}

const tests = "npm test -- --reporter=default --reporter=json --outputFile.json=REPORT";
const all = ["npm ci", "npm run check", tests];

test("what has to pass is a clean installation, the checks, and every test", async () => {
  expect(await run(whole)).toEqual({ calls: all, code: 0, lastLine: "7 passed, 0 failed" });
});

test.each<[string, object | undefined, string, Partial<Outcome>]>([
  ["the installation fails", whole, "npm ci ", { calls: ["npm ci"] }],
  ["a check fails", whole, "npm run check", { calls: ["npm ci", "npm run check"] }],
  ["a test fails", { ...whole, numFailedTests: 1 }, "npm test --", { lastLine: "7 passed, 1 failed" }],
  ["a test is skipped", { ...whole, numPendingTests: 2 }, "none", { lastLine: "7 passed, 2 failed" }],
  ["the tests crash", undefined, "npm test --", { calls: all }],
  ["the tests crash after their report", whole, "npm test --", { calls: all }],
])("it does not pass when %s", async (_, report, failing, expected) => {
  expect(await run(report, failing)).toMatchObject({ code: 1, ...expected });
});

test("a browser is installed where there is none, and without one nothing passes", async () => {
  const installed = ["apt-get update -qq", "apt-get install -y -qq --no-install-recommends chromium"];
  expect((await run(whole, "none", "google-chrome")).calls).toEqual(all);
  expect(await run(whole, "none", "firefox")).toMatchObject({
    calls: ["npm ci", ...installed, ...all.slice(1)],
    code: 0,
  });
  expect(await run(whole, "apt-get install -y", "firefox")).toMatchObject({ calls: ["npm ci", ...installed], code: 1 });
});
