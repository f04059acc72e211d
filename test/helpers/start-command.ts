import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll } from "vitest";
import { root } from "./admin/admin-command.ts";

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Runs `npm start` as a terminal does, with a folder of its own. */
export interface Starter {
  /** As npm names it, without the links on the way. */
  directory: string;
  /** Where a running stack says where it is. */
  stackFile: string;
  /** The command behind `npm start`, without npm. */
  start(options: string[], environment?: Record<string, string>): Child;
  run(command: string[], options: { cwd: string; environment: Record<string, string> }): Child;
  ordersFile(name: string, lines: string[]): Promise<string>;
}

/** Creates the starter of the calling test file. The file's end kills what still runs and removes the folder. */
export async function createStarter(): Promise<Starter> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "start-test-")));
  const started = new Set<ChildProcess>();
  // Not the checkout's own file: a stack may be running there.
  const stackFile = join(directory, "stack.json");
  afterAll(async () => {
    for (const { pid = 0 } of started) killGroup(pid);
    await rm(directory, { recursive: true });
  });
  const run: Starter["run"] = ([command = "", ...args], { cwd, environment }) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, LOCAL_STACK_FILE: stackFile, ...environment },
      // A process group of its own, as a terminal's foreground job has.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    started.add(child);
    return child;
  };
  return {
    directory,
    stackFile,
    start: (options, environment = {}) =>
      run([process.execPath, "infra/local/start.ts", ...options], { cwd: root, environment }),
    run,
    ordersFile: async (name, lines) => {
      const file = join(directory, name);
      await writeFile(file, `${lines.join("\n")}\n`);
      return file;
    },
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
