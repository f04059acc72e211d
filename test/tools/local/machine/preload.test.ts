import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const preload = ["--require", "./infra/tools/preload.cjs"];

function run(args: string[], environment: Record<string, string> = {}) {
  const env = { ...process.env, ...environment };
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    env,
  });
  return { stdout, stderr, status };
}

test("a script that ends says why in a line, without a stack trace", async () => {
  const folder = await mkdtemp(join(tmpdir(), "preload-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  const said = [];
  for (const source of [
    "await null; null.bug;",
    "Promise.reject(new RangeError('far')); setTimeout(() => {}, 60_000);",
    "const = nothing;",
  ]) {
    await writeFile(join(folder, "one.ts"), source);
    const { stderr, ...ended } = run([...preload, join(folder, "one.ts")]);
    expect(ended).toEqual({ stdout: "", status: 1 });
    said.push(stderr.replaceAll(folder, "FOLDER").replace(/(?<=SyntaxError ).*/, "..."));
  }
  expect(said.join("")).toMatchInlineSnapshot(`
    "Unexpected error: TypeError: Cannot read properties of null (reading 'bug'). NODE_DEBUG=errors prints the stack trace
    Unexpected error: RangeError: far. NODE_DEBUG=errors prints the stack trace
    file://FOLDER/one.ts:1
    const = nothing;
          ^

    SyntaxError ...
    "
  `);
});

test.each<[string, Record<string, string>, string]>([
  [
    "node_modules/nothing/cli.js",
    {},
    "The packages are not all installed. Run: npm ci --include=dev",
  ],
  [
    "infra/app.ts",
    { TMPDIR: "/nowhere" },
    "The temporary folder /nowhere can't be used. Set TMPDIR to one that can be written",
  ],
])("%s with %j says in a line what to do", (program, environment, line) => {
  const ended = { stdout: "", stderr: `${line}\n`, status: 1 };
  expect(run([...preload, program], environment)).toEqual(ended);
});

const other = process.arch === "x64" ? "arm64" : "x64";

function runOn(node: string, arch: string = process.arch, glibc = '"2.36"') {
  const { stderr, status } = run([
    "--eval",
    `
      Object.defineProperty(process, "versions", { value: { node: "${node}" } });
      Object.defineProperty(process, "version", { value: "v${node}" });
      Object.defineProperty(process, "arch", { value: "${arch}" });
      Object.defineProperty(process, "platform", { value: "linux" });
      process.report.getReport = () => ({ header: { glibcVersionRuntime: ${glibc} } });
      require("./infra/tools/preload.cjs");`,
  ]);
  return `${status}: ${stderr.replaceAll(arch, "ARCH").replace(/@[\d.]+\n/, "@VERSION\n")}`;
}

test("a script lists everything that a machine lacks, and the commands that provide it", async () => {
  const docker = "docker run --rm -p 127.0.0.1:8000:8000 ghcr.io/nubo-db/dynoxide";
  expect(await readFile("infra/tools/local/README.md", "utf8")).toContain(
    `\n${docker}\n`,
  );
  expect(runOn("20.1.0", other, "undefined")).toBe(`\
1: This machine (linux-ARCH) lacks
- Node 24, as the Lambda functions run on it; this is v20.1.0:
    npm ci, or where npm has none for this machine, https://nodejs.org and npm ci again
- glibc: Alpine and other systems on musl are not supported
- a DynamoDB engine. Any of these commands provides one:
    npm install --no-save @dynoxide/linux-ARCH@VERSION
    brew install nubo-db/tap/dynoxide && dynoxide --port 8000
    ${docker}
  and after either of the last two, DYNAMODB_ENDPOINT=http://localhost:8000 npm start
`);
  expect(runOn("22.22.0")).toMatch(/ lacks\n- Node 24, .*\n.*\n$/);
});

test("a script that needs no engine accepts a machine that lacks only that", () => {
  expect(runOn("26.0.0", "riscv64")).toBe("0: ");
});
