import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Starts a process that answers each line of JSON with one. */
export function startLineProcess(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
) {
  const { stdin, stdout } = spawn(command, args, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(stdout)[Symbol.asyncIterator]();
  return {
    ask: async (value: unknown) => {
      stdin.write(`${JSON.stringify(value)}\n`);
      return JSON.parse((await lines.next()).value ?? "null");
    },
    stop: () => stdin.end(),
  };
}
