import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("../../.ci/run", import.meta.url));
const whole = { numPassedTests: 7, numFailedTests: 0, numPendingTests: 0 };

interface Outcome {
  /** The commands of npm, as they came. */
  calls: string[];
  code: unknown;
  lastLine: string | undefined;
}

/** Runs `.ci/run` with an npm that fails at one command, if any, and whose tests end with this report. */
async function run(report: object | undefined, failing = "none"): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "ci-run-"));
  const npm = `#!/bin/sh
echo $1 $2 >> "$CALLS"
for word; do case "$word" in --outputFile.json=*) printf '%s' "$REPORT" > "\${word#*=}";; esac; done
[ "$(echo $1 $2)" != "$FAILING" ]
`;
  for (const [name, text] of [
    ["npm", npm],
    ["chromium", "#!/bin/sh\n"],
  ] as const) {
    await writeFile(join(folder, name), text);
    await chmod(join(folder, name), 0o755);
  }
  const env = {
    ...process.env,
    PATH: [folder, process.env["PATH"]].join(delimiter),
    CALLS: join(folder, "calls"),
    REPORT: report === undefined ? "" : JSON.stringify(report),
    FAILING: failing,
  };
  const [code, stdout] = await new Promise<[unknown, string]>((resolve) =>
    execFile(script, { env }, (error, output) => resolve([error?.code ?? 0, output])),
  );
  const calls = (await readFile(env.CALLS, "utf8")).trimEnd().split("\n");
  return { calls, code, lastLine: stdout.trimEnd().split("\n").at(-1) };
}

const all = ["ci", "run check", "test --"];

test("what has to pass is a clean installation, the checks, and every test", async () => {
  expect(await run(whole)).toEqual({ calls: all, code: 0, lastLine: "7 passed, 0 failed" });
});

test.each<[string, object | undefined, string, Partial<Outcome>]>([
  ["the installation fails", whole, "ci", { calls: ["ci"] }],
  ["a check fails", whole, "run check", { calls: ["ci", "run check"] }],
  ["a test fails", { ...whole, numFailedTests: 1 }, "test --", { lastLine: "7 passed, 1 failed" }],
  ["a test is skipped", { ...whole, numPendingTests: 2 }, "none", { lastLine: "7 passed, 2 failed" }],
  ["the tests crash", undefined, "test --", { calls: all }],
  ["the tests crash after their report", whole, "test --", { calls: all }],
])("it does not pass when %s", async (_, report, failing, expected) => {
  expect(await run(report, failing)).toMatchObject({ code: 1, ...expected });
});
