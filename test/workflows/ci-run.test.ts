import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runScript, temporaryDirectory } from "../helpers/workflows.ts";

/** Runs `.ci/run` in a repository of its own, with a stand-in for npm whose `npm test` reports this and exits so. */
async function ciRun(counts: { numPassedTests: number; numFailedTests: number; numPendingTests: number }, exit = 0) {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, ".ci"));
  await copyFile(".ci/run", join(directory, ".ci/run"));
  await symlink(process.execPath, join(directory, "node"));
  await writeFile(join(directory, "chromium"), "#!/bin/sh\n", { mode: 0o755 });
  const npm = `#!/bin/sh
    if [ "$1" != test ]; then exit; fi
    for argument; do case "$argument" in --outputFile.json=*) echo '${JSON.stringify(counts)}' > "\${argument#*=}";; esac; done
    exit ${exit}`;
  await writeFile(join(directory, "npm"), npm, { mode: 0o755 });
  const { ok, output } = await runScript({ run: "bash .ci/run" }, directory, {
    PATH: `${directory}:${process.env["PATH"]}`,
  });
  return { ok, lastLine: output.trimEnd().split("\n").at(-1) };
}

test("a run passes when every test has, fails when one has not or vitest says so, and ends with the counts", async () => {
  const passed = { numPassedTests: 9, numFailedTests: 0, numPendingTests: 0 };
  expect(await ciRun(passed)).toEqual({ ok: true, lastLine: "9 passed, 0 failed" });
  expect(await ciRun(passed, 1)).toEqual({ ok: false, lastLine: "9 passed, 0 failed" });
  expect(await ciRun({ ...passed, numFailedTests: 1 }, 1)).toEqual({ ok: false, lastLine: "9 passed, 1 failed" });
  expect(await ciRun({ ...passed, numPendingTests: 2 })).toEqual({ ok: false, lastLine: "9 passed, 2 failed" });
});
