import { spawn } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { root } from "../helpers/admin-command.ts";

/** What `npm start` gives to node. */
export const startScript = [
  "--require",
  "./infra/require-node-24.cjs",
  "infra/local/start.ts",
];

/** How long to wait until a start is ready or has ended, even on a busy machine. */
export const startLimit = { timeout: 60_000 };

/** A process as its caller sees it: its output and, once it has ended, how. */
interface Seen {
  stdout: string;
  stderr: string;
  ended: [code: number | null, signal: NodeJS.Signals | null] | undefined;
}

/** Runs commands as a terminal does. Those that still run end with the calling test file. */
export async function createStarter() {
  // As npm names it, without the links on the way. Folders may be called anything.
  const directory = await realpath(await mkdtemp(join(tmpdir(), "start test ü-")));
  // Not the checkout's own file: a stack may be running there.
  const stackFile = join(directory, "stack.json");
  const started: { pid: number; seen: Seen }[] = [];
  afterAll(async () => {
    for (const { pid, seen } of started) if (!seen.ended) process.kill(-pid, "SIGKILL");
    await rm(directory, { recursive: true, maxRetries: 5 });
  });
  const run = ([command = "", ...args]: string[], cwd: string, environment = {}) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, LOCAL_STACK_FILE: stackFile, ...environment },
      // A process group of its own, as a terminal's foreground job has.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const seen: Seen = { stdout: "", stderr: "", ended: undefined };
    child.stdout.setEncoding("utf8").on("data", (text) => (seen.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (seen.stderr += text));
    child.on("close", (...how) => (seen.ended = how));
    const running = { pid: child.pid ?? 0, seen };
    started.push(running);
    return running;
  };
  return {
    directory,
    /** Where running stacks leave their addresses. */
    stackFile,
    run,
    /** Runs the command behind `npm start`, without npm. */
    start: (options: string[], environment = {}) =>
      run([process.execPath, ...startScript, ...options], root, environment),
  };
}
