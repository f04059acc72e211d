import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";
import { adminCommand, root } from "./admin-command.ts";

/** How a run of the command line ended. */
export interface Ended {
  /** Null when a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

export interface OperatorOptions {
  /** Standard input, empty unless given; null stays open. */
  input?: string | null;
  env?: Record<string, string>;
}

/** Runs the command line as an operator does, with a folder of its own, no AWS credentials and no network. */
export interface Operator {
  folder: string;
  start(args: string[], options?: OperatorOptions): Running;
  run(args: string[], options?: OperatorOptions): Promise<Ended>;
  /** Says where the local stack is, as the running `npm start` does. */
  pointTo(stack: { dynamodbEndpoint: string; tables: { orders: string; apiKeys: string } }): Promise<void>;
  write(name: string, content: string): Promise<string>;
  read(name: string): Promise<string>;
}

/** Creates the operator of the calling test file. The file's end kills what still runs and removes the folder. */
export async function createOperator(): Promise<Operator> {
  const folder = await mkdtemp(join(tmpdir(), "pet-store-admin-"));
  const command = await adminCommand();
  const stackFile = join(folder, "stack.json");
  const running = new Set<Running>();
  afterAll(async () => {
    for (const process of running) process.kill("SIGKILL");
    await Promise.all([...running].map(({ ended }) => ended));
    await rm(folder, { recursive: true, force: true });
  });
  const start: Operator["start"] = (args, { input = "", env = {} } = {}) => {
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
    child.stdin.on("error", () => {});
    if (input !== null) child.stdin.end(input);
    const { promise: exited, resolve, reject } = Promise.withResolvers<number | null>();
    child.on("error", reject).on("exit", resolve);
    const ended = Promise.all([exited, text(child.stdout), text(child.stderr)]).then(([code, stdout, stderr]) => ({
      code,
      stdout,
      stderr,
    }));
    const run: Running = { kill: (signal) => void child.kill(signal), ended };
    running.add(run);
    return run;
  };
  return {
    folder,
    start,
    run: (args, options) => start(args, options).ended,
    pointTo: ({ dynamodbEndpoint, tables }) =>
      writeFile(stackFile, JSON.stringify([{ baseUrl: "http://localhost:1/v1", dynamodbEndpoint, tables }])),
    write: async (name, content) => {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
    read: (name) => readFile(join(folder, name), "utf8"),
  };
}
