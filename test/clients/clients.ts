// Generates, compiles and runs a client in every language that this machine has the tools for: `npm run clients`.
import { exec } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Command } from "commander";
import { documentFile } from "../helpers/openapi/document.ts";
import { startLaterVersion } from "../helpers/openapi/later-version.ts";
import { startStack } from "../helpers/start-stack.ts";
import { checks, conclude, failures, ordersFile, type Result } from "./checks.ts";
import { type Toolchain, toolchains } from "./toolchains.ts";

const run = promisify(exec);

const { document } = new Command("npm run clients --")
  .description("Generates, compiles and runs clients of the service in other languages.")
  .option("--document <file>", "the OpenAPI document to generate from", fileURLToPath(documentFile))
  .parse()
  .opts<{ document: string }>();

const results: Result[] = [];
for (const toolchain of toolchains) {
  const versions = await readVersions(toolchain);
  if (versions === undefined) continue;
  results.push({ ...versions, ...(await tryClient(toolchain)) });
}
conclude(results);

/** The language's and the generator's versions, or undefined, said aloud, when this machine lacks a tool. */
async function readVersions({
  language,
  folder,
  tools,
  generator,
}: Toolchain): Promise<Pick<Result, "client" | "generator"> | undefined> {
  const versions: string[] = [];
  for (const tool of tools) {
    try {
      const { stdout } = await run(tool);
      versions.push(/\d+(?:\.\d+)+/.exec(stdout)?.[0] ?? stdout);
    } catch {
      console.log(`Skipped ${language}: \`${tool}\` does not run on this machine`);
      return undefined;
    }
  }
  const [, version] =
    generator.version.exec(await readFile(new URL(`${folder}/${generator.file}`, import.meta.url), "utf8")) ?? [];
  return { client: `${language} ${versions[0]}`, generator: `${generator.name} ${version}` };
}

/** Builds a language's client in a scratch folder and runs it against a service of its own. */
async function tryClient({ folder, build, run: command }: Toolchain): Promise<Pick<Result, "passed" | "complaints">> {
  await using started = new AsyncDisposableStack();
  const cwd = await mkdtemp(join(tmpdir(), `client-${folder}-`));
  started.defer(() => rm(cwd, { recursive: true, force: true }));
  await cp(new URL(folder, import.meta.url), cwd, { recursive: true });
  const copy = join(cwd, "openapi.yaml");
  await cp(document, copy);
  const stack = await startStack({ orders: fileURLToPath(ordersFile), log: () => {} });
  started.defer(() => stack.stop());
  const later = await startLaterVersion();
  started.defer(() => later.stop());
  const env = {
    ...process.env,
    DOCUMENT: copy,
    BASE_URL: stack.baseUrl,
    API_KEY: stack.apiKey,
    LATER_BASE_URL: later.baseUrl,
  };
  try {
    await run(build, { cwd, env });
    const { stdout } = await run(command, { cwd, env });
    const failed = failures(stdout);
    return {
      passed: checks.length - failed.length,
      complaints: failed.map(({ check, saw }) => `${check.name}: expected ${check.expected}, saw ${saw}`),
    };
  } catch (error) {
    return { passed: 0, complaints: [`it does not build or run: ${outputOf(error)}`] };
  }
}

/** The output of a command that failed. */
function outputOf(error: unknown): string {
  const { stdout = "", stderr = "" }: { stdout?: string; stderr?: string } = Object(error);
  return `${stdout}${stderr}`.trim() || String(error);
}
