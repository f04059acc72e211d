import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "preload-"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a program as a script of ours is run. */
function run(program: string, environment: Record<string, string | undefined> = {}) {
  const args = ["--require", "./infra/require-node-24.cjs", program];
  const env = { ...process.env, ...environment };
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8", env });
  return { stdout, stderr, status };
}

test.each([
  [
    "a package that is missing",
    'import "a-package";',
    /^The packages are not all installed \(Cannot find package 'a-package' imported from .*one\.ts\)\. Run: npm ci --include=dev\n$/,
  ],
  [
    "a temporary folder that can't be written",
    'import { mkdtempSync } from "node:fs"; mkdtempSync("/proc/one-");',
    /^\/proc\/one-XXXXXX: .*\. Set TMPDIR to a folder that can be written\n$/,
  ],
  [
    "a bug",
    "await null; null.bug;",
    /^Unexpected error: TypeError: Cannot read .*\. NODE_DEBUG=errors prints the stack trace\n$/,
  ],
  [
    "a promise that no one waits for",
    "Promise.reject(new RangeError('far')); setTimeout(() => {}, 60_000);",
    /^Unexpected error: RangeError: far\. NODE_DEBUG=errors prints the stack trace\n$/,
  ],
  [
    "a source that can't be parsed",
    "const = nothing;",
    /^file:.*one\.ts:1\nconst = nothing;\n +\^\n\nSyntaxError .*\n$/,
  ],
])("a script that ends by %s says so without a stack trace", async (_, source, stderr) => {
  const program = join(folder, "one.ts");
  await writeFile(program, source);
  expect(run(program)).toEqual({ stdout: "", stderr: expect.stringMatching(stderr), status: 1 });
});

test.each<[string, string, Record<string, string>, string]>([
  [
    "a program of a package that is missing",
    "node_modules/nothing/cli.js",
    {},
    "The packages are not all installed. Run: npm ci --include=dev",
  ],
  [
    "a temporary folder that doesn't exist",
    "infra/app.ts",
    { TMPDIR: "/nowhere" },
    "The temporary folder /nowhere can't be used. Set TMPDIR to one that can be written",
  ],
  [
    "an option for another program that npm has kept",
    "node_modules/aws-cdk/bin/cdk",
    { npm_lifecycle_event: "synth", npm_config_context: "canary=false" },
    "npm keeps options before -- for itself. Write: npm run synth -- --context canary=false",
  ],
])("a script with %s says in one line what to do", (_, program, environment, line) => {
  expect(run(program, environment)).toEqual({ stdout: "", stderr: `${line}\n`, status: 1 });
});
