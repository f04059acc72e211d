import { Command, CommanderError, Option } from "commander";
import { environments } from "../environments.ts";
import { findDeployedStack } from "./deployed-stack.ts";
import { findLocalStack } from "./local-target.ts";
import type { Target } from "./target.ts";
import { jsonText, printable, withoutKeys } from "./terminal-text.ts";

/** What every command is told besides its own arguments. */
export interface GlobalOptions {
  env?: "staging" | "production";
  local?: true;
  json?: true;
}

/** What a command found out or did. */
export interface Answer {
  /** For people, on standard output. */
  text: string;
  /** The same for scripts, with `--json`. */
  json: unknown;
  /** For people, on standard error: what must not get into a pipe. */
  note?: string;
  /** Whether the answer is a no; the process then exits with 1. */
  refused?: boolean;
}

/** The program without its commands; exit code 2 and one line for wrong use, on every level. */
export function createProgram(): Command {
  return (
    new Command("admin")
      .description("Issues API keys and looks after orders: an operator's tool, not part of the HTTP API.")
      .addOption(
        new Option("--env <name>", "the deployed environment to work on, with your own AWS credentials")
          .choices(["staging", "production"])
          .conflicts("local"),
      )
      .option("--local", "work on the running `npm start`")
      .option("--json", "answer in JSON, for scripts")
      .configureHelp({ showGlobalOptions: true })
      .showHelpAfterError("(--help tells what there is)")
      // commander quotes arguments as they are.
      .configureOutput({
        outputError: (text, write) => write(withoutKeys(text.split("\n").map(printable).join("\n"))),
      })
      .exitOverride()
  );
}

/** The tables a command shall work on. In AWS it first says whose they are, on standard error. */
export async function findTarget(command: Command): Promise<Target> {
  const { env, local } = command.optsWithGlobals<GlobalOptions>();
  if (local) return findLocalStack();
  if (!env) return command.error("error: say where: --env staging, --env production or --local");
  const target = await findDeployedStack(environments[env]);
  process.stderr.write(`${target.description}\n`);
  return target;
}

/** Runs what a command does on its target and prints its answer as it was asked to. */
export async function answer(command: Command, work: (target: Target) => Promise<Answer>): Promise<void> {
  const target = await findTarget(command);
  try {
    const { text, json, note, refused } = await work(target);
    process.stdout.write(`${command.optsWithGlobals<GlobalOptions>().json ? jsonText(json) : text}\n`);
    if (note) process.stderr.write(`${note}\n`);
    if (refused) process.exitCode = 1;
  } finally {
    target.client.destroy();
  }
}

/** Whether commander ended the command line by itself, and with which exit code: 0 after help, 2 after wrong use. */
export function usageExitCode(error: unknown): 0 | 2 | undefined {
  if (!(error instanceof CommanderError)) return undefined;
  return error.exitCode === 0 ? 0 : 2;
}
