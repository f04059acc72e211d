import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "preload-"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
});
afterAll(() => rm(folder, { recursive: true }));

const preload = ["--require", "./infra/require-node-24.cjs"];

/** Runs node with these arguments. */
function run(args: string[], environment: Record<string, string> = {}) {
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
  expect(run([...preload, program])).toEqual({
    stdout: "",
    stderr: expect.stringMatching(stderr),
    status: 1,
  });
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
  expect(run([...preload, program], environment)).toEqual({
    stdout: "",
    stderr: `${line}\n`,
    status: 1,
  });
});

describe("on Linux", () => {
  const arch = process.arch === "x64" ? "arm64" : "x64";

  /** Runs a script on a machine that has these instead. */
  const runOn = (machine: { node: string; arch?: string; glibc?: string }) => {
    const { node, arch = process.arch, glibc = "2.36" } = machine;
    const code = `
      Object.defineProperty(process, "versions", { value: { node: "${node}" } });
      Object.defineProperty(process, "version", { value: "v${node}" });
      Object.defineProperty(process, "arch", { value: "${arch}" });
      Object.defineProperty(process, "platform", { value: "linux" });
      process.report.getReport = () => ({ header: { glibcVersionRuntime: ${glibc || undefined} } });
      require("./infra/require-node-24.cjs");`;
    const { stderr, status } = run(["--eval", code]);
    return { stderr: stderr.replaceAll(arch, "ARCH").replace(/@[\d.]+\n/, "@VERSION\n"), status };
  };

  test("a script lists everything that a machine lacks, and the commands that provide it", async () => {
    const docker = "docker run --rm -p 127.0.0.1:8000:8000 ghcr.io/nubo-db/dynoxide";
    expect(await readFile("infra/local/README.md", "utf8")).toContain(`\n${docker}\n`);
    const stderr = `\
This machine (linux-ARCH) lacks
- Node 24, as the Lambda functions run on it; this is v20.1.0:
    npm ci, or where npm has none for this machine, https://nodejs.org and npm ci again
- glibc: Alpine and other systems on musl are not supported
- a DynamoDB engine. Any of these commands provides one:
    npm install --no-save @dynoxide/linux-ARCH@VERSION
    brew install nubo-db/tap/dynoxide && dynoxide --port 8000
    ${docker}
  and after either of the last two, DYNAMODB_ENDPOINT=http://localhost:8000 npm start
`;
    expect(runOn({ node: "20.1.0", arch, glibc: "" })).toEqual({ stderr, status: 1 });
  });

  test("a script lists nothing that is there", () => {
    const { stderr } = runOn({ node: "22.22.0" });
    expect(stderr).toMatch(/ lacks\n- Node 24, .*\n.*\n$/);
  });

  test("a script that needs no engine accepts a machine that lacks only that", () => {
    expect(runOn({ node: "26.0.0", arch: "riscv64" })).toEqual({ stderr: "", status: 0 });
  });
});
