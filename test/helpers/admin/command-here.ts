import { CommanderError } from "commander";
import { onTestFinished, vi } from "vitest";
import { createProgram } from "../../../infra/admin/command.ts";
import { errorLine } from "../../../infra/admin/errors.ts";
import { addKeyCommands } from "../../../infra/admin/key-commands.ts";
import { addOrderCommands } from "../../../infra/admin/order-commands.ts";
import { environments } from "../../../infra/environments.ts";
import { startFakeCloudFormation } from "./fake-cloudformation.ts";
import type { TestTables } from "./test-tables.ts";

/** The whole program, which prints its help and wrong use to `print`. */
export function createCommands(print: { writeOut(text: string): void; writeErr(text: string): void }) {
  const program = createProgram().configureOutput(print);
  addKeyCommands(program);
  addOrderCommands(program);
  return program;
}

export interface Here {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Makes the test file's tables those of production, until the test ends, and gives how to run a command on them in this
 * process, which takes a fraction of what another process does. What the command throws, it throws.
 *
 * @param endpoint of another engine, or a proxy.
 */
export async function commandsHere({ dynamodbEndpoint, tables }: TestTables, endpoint = dynamodbEndpoint) {
  const outputs = { OrdersTableName: tables.orders, ApiKeysTableName: tables.apiKeys };
  const stack = { name: environments.production.stackName, account: "210987654321", region: "eu-central-1", outputs };
  const cloudFormation = await startFakeCloudFormation(stack);
  onTestFinished(cloudFormation.stop);
  vi.stubEnv("AWS_REGION", stack.region);
  vi.stubEnv("AWS_ENDPOINT_URL_CLOUDFORMATION", cloudFormation.endpoint);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", endpoint);
  /** @param terminals which streams are terminals. */
  return async (args: string[], ...terminals: ("stdout" | "stderr")[]): Promise<Here> => {
    const printed = { stdout: "", stderr: "" };
    const into = (name: keyof typeof printed) => (text: unknown) => {
      printed[name] += text;
      return true;
    };
    const spies = [
      vi.spyOn(process.stdout, "write").mockImplementation(into("stdout")),
      vi.spyOn(process.stderr, "write").mockImplementation(into("stderr")),
    ];
    const before = { stdout: process.stdout.isTTY, stderr: process.stderr.isTTY, exitCode: process.exitCode };
    const signals = (["SIGHUP", "SIGINT", "SIGTERM"] as const).map((signal) => ({
      signal,
      kept: process.listeners(signal),
    }));
    for (const name of ["stdout", "stderr"] as const) process[name].isTTY = terminals.includes(name);
    process.exitCode = 0;
    try {
      const program = createCommands({ writeOut: into("stdout"), writeErr: into("stderr") });
      await program.parseAsync([...args, "--env", "production"], { from: "user" });
      return { code: Number(process.exitCode), ...printed };
    } catch (error) {
      if (error instanceof CommanderError) return { code: error.exitCode, ...printed };
      throw error;
    } finally {
      for (const spy of spies) spy.mockRestore();
      process.stdout.isTTY = before.stdout;
      process.stderr.isTTY = before.stderr;
      process.exitCode = before.exitCode;
      for (const { signal, kept } of signals) {
        for (const listener of process.listeners(signal)) {
          if (!kept.includes(listener)) process.off(signal, listener);
        }
      }
    }
  };
}

/**
 * Runs one command like `commandsHere`, and gives what an operator sees of it: the line of a failure, too, but not what
 * every command says of its environment.
 */
export async function runHere(tables: TestTables, args: string[], endpoint?: string): Promise<Here> {
  const run = await commandsHere(tables, endpoint);
  const failed = (error: unknown) => ({ code: 1, stdout: "", stderr: `${errorLine(error)}\n` });
  const { stderr, ...ended } = await run(args).catch(failed);
  return { ...ended, stderr: stderr.replace(/^(?:production: |Using at most ).*\n/gm, "") };
}
