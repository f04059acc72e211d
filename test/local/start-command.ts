import { spawn } from "node:child_process";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, vi } from "vitest";
import { root } from "../helpers/admin-command.ts";

/** What `npm start` gives to node. */
export const startScript = ["--require", "./infra/require-node-24.cjs", "infra/local/start.ts"];

/** How long to wait until a start is ready or has ended, even on a busy machine. */
export const startLimit = { timeout: 60_000 };

/** A process as its caller sees it: its output and, once it has ended, how. */
interface Seen {
  stdout: string;
  stderr: string;
  ended: [code: number | null, signal: NodeJS.Signals | null] | undefined;
}

/**
 * Runs commands as a terminal does. What a test ran ends with the test, unless `run` gets another
 * `finished`; the folder is removed at the end of the calling test file.
 */
export async function createStarter() {
  // As npm names it, without the links on the way. Folders may be called anything.
  const directory = await realpath(await mkdtemp(join(tmpdir(), "start test ü-")));
  // Not the checkout's own file: a stack may be running there.
  const stackFile = join(directory, "stack.json");
  afterAll(() => rm(directory, { recursive: true }));
  const run = (
    [command = "", ...args]: string[],
    cwd: string,
    environment: Record<string, string> = {},
    finished: (end: () => Promise<void>) => void = onTestFinished,
  ) => {
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
    const pid = child.pid ?? 0;
    finished(async () => {
      if (seen.ended !== undefined) return;
      process.kill(-pid, "SIGINT");
      try {
        await vi.waitFor(() => expect(seen.ended).toBeDefined(), { timeout: 15_000 });
      } finally {
        if (seen.ended === undefined) process.kill(-pid, "SIGKILL");
      }
    });
    return { pid, seen };
  };
  return {
    directory,
    /** Where running stacks leave their addresses. */
    stackFile,
    run,
    /** Runs the command behind `npm start`, without npm. */
    start: (
      options: string[],
      environment?: Record<string, string>,
      finished?: (end: () => Promise<void>) => void,
    ) => run([process.execPath, ...startScript, ...options], root, environment, finished),
    ordersFile: async (name: string, lines: string[]): Promise<string> => {
      const file = join(directory, name);
      await writeFile(file, `${lines.join("\n")}\n`);
      return file;
    },
  };
}
