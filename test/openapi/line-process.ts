import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll } from "vitest";

/** Starts a process that answers each line of JSON with one. @returns what asks it. */
export function startLineProcess(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
) {
  const { stdin, stdout } = spawn(command, args, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  afterAll(() => void stdin.end());
  const lines = createInterface(stdout)[Symbol.asyncIterator]();
  return async (value: unknown) => {
    stdin.write(`${JSON.stringify(value)}\n`);
    return JSON.parse((await lines.next()).value ?? "null");
  };
}
