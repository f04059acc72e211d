import { spawn } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, inject } from "vitest";
import { petstore, root } from "../../helpers/admin-command.ts";
import { readAssembly } from "../../helpers/read-assembly.ts";

export const startScript = [...petstore, "start"];

/** Long enough for a start on a busy machine. */
export const startLimit = { timeout: 60_000 };

/**
 * Environment variables with which a start's first build is a copy of the one that test files
 * share: building takes longer than the rest of a start.
 */
export async function prebuilt() {
  await readAssembly();
  const { directory } = inject("assembly");
  const code = `import { cpSync, readdirSync } from "node:fs";
    const { CDK_OUTDIR } = process.env;
    if (process.argv[1].endsWith("synth-process.ts") && readdirSync(CDK_OUTDIR).length === 0) {
      cpSync(${JSON.stringify(directory)}, CDK_OUTDIR, { recursive: true });
      process.exit();
    }`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

/** Runs commands as a terminal does. Those that still run end with the calling test file. */
export async function createStarter() {
  // As npm names it, without the links on the way. Folders may be called anything.
  const directory = await realpath(await mkdtemp(join(tmpdir(), "start test ü-")));
  // Not the checkout's own folder: a stack may be running there.
  const stacks = join(directory, "stacks");
  const stops: (() => unknown)[] = [];
  afterAll(async () => {
    for (const stop of stops) stop();
    await rm(directory, { recursive: true, maxRetries: 5 });
  });
  const run = ([command = "", ...args]: string[], cwd: string, environment = {}) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, LOCAL_STACKS: stacks, ...environment },
      // A process group of its own, as a terminal's foreground job has.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { pid = 0 } = child;
    const seen: Record<"stdout" | "stderr", string> & { ended?: unknown[] } = {
      stdout: "",
      stderr: "",
    };
    for (const name of ["stdout", "stderr"] as const)
      child[name].setEncoding("utf8").on("data", (text) => (seen[name] += text));
    child.on("close", (...how) => (seen.ended = how));
    stops.push(() => seen.ended ?? process.kill(-pid, "SIGKILL"));
    return { pid, seen };
  };
  return {
    directory,
    stacks,
    run,
    start: (options: string[], environment = {}, cwd = root) =>
      run([process.execPath, ...startScript, ...options], cwd, environment),
  };
}
