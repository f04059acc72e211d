import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";
import { adminCommand, root } from "../helpers/admin-command.ts";
import type { TestTables } from "../helpers/test-tables.ts";

interface Options {
  /** Standard input, empty unless given; null stays open. */
  input?: string | null;
  env?: Record<string, string>;
}

/**
 * Creates the operator of the calling test file, who runs the command line with a folder of their
 * own and no AWS credentials. The end of the file kills commands that still run and removes the
 * folder.
 */
export async function createOperator() {
  const folder = await mkdtemp(join(tmpdir(), "pet-store-admin-"));
  const command = await adminCommand();
  const stackFile = join(folder, "stack.json");
  const running: ChildProcess[] = [];
  afterAll(async () => {
    for (const child of running) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });
  const start = (args: string[], { input = "", env = {} }: Options = {}) => {
    const child = spawn(process.execPath, [...command, ...args], {
      cwd: root,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        TMPDIR: tmpdir(),
        LOCAL_STACK_FILE: stackFile,
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        // No test may ask the address where EC2 keeps its credentials.
        AWS_EC2_METADATA_DISABLED: "true",
        ...env,
      },
    });
    // The command may exit before it has read its input.
    child.stdin.on("error", () => {});
    if (input !== null) child.stdin.end(input);
    running.push(child);
    const ended = Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
    return {
      kill: (signal: NodeJS.Signals) => void child.kill(signal),
      /** The code is null when a signal ended it. */
      ended: ended.then(([[code], stdout, stderr]) => ({ code, stdout, stderr })),
    };
  };
  return {
    folder,
    start,
    run: (args: string[], options?: Options) => start(args, options).ended,
    /** Writes the stack file, as the running `npm start` does. */
    pointTo: ({ dynamodbEndpoint, tables }: Pick<TestTables, "dynamodbEndpoint" | "tables">) =>
      writeFile(
        stackFile,
        JSON.stringify([
          { baseUrl: "http://localhost:1/v1", dynamodbEndpoint, accessKeyId: "local", tables },
        ]),
      ),
    write: async (name: string, content: string) => {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
    read: (name: string) => readFile(join(folder, name), "utf8"),
  };
}
