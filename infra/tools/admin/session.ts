import type { Command } from "commander";
import { isTemporary } from "../../../shared/dynamodb.ts";
import { isInt64 } from "../../../shared/order.ts";
import { type EnvironmentName, environments } from "../../environments.ts";
import { CommandError, errorText } from "../terminal/errors.ts";
import { inputLines, inputName } from "../terminal/input.ts";
import { grouped, jsonText, printable, printableLines } from "../terminal/text.ts";
import { printLine } from "./progress.ts";
import { TableCalls } from "./table-calls.ts";
import { findDeployedStack, findLocalStack, type Target } from "./target.ts";

/** The options of every command. */
export interface TargetOptions {
  env?: EnvironmentName;
  local?: true;
  json?: true;
  rate?: number;
}

/** The result of a command that is still to be printed. */
export interface Result {
  /** For people, on standard output. */
  text?: string;
  /** The same for scripts, with `--json`. */
  json?: unknown;
  /** Lines for people, on standard error, so that they stay out of a pipe. */
  notes?: (string | false | undefined)[];
  /** The line to print if the result can't be printed, though something was changed. */
  unprinted?: string;
  /** Why the command stopped early, in one line. */
  reason?: string | undefined;
  /** Whether the result is a rejection, which makes the exit code 1, as a reason does. */
  rejected?: boolean;
}

/**
 * Does the work of a command on the target that its options choose, and prints the result. First
 * names the target on standard error, if that could be in doubt.
 */
export async function runOnTarget(
  command: Command,
  work: (session: Session) => Promise<Result>,
) {
  const { env } = command.optsWithGlobals<TargetOptions>();
  const target = await (env ? findDeployedStack(environments[env]) : findLocalStack());
  if (target.description) process.stderr.write(`${target.description}\n`);
  try {
    const session = openSession(target, command);
    await printResult(await work(session), session);
  } finally {
    target.client.destroy();
  }
}

/** The stack that a command works on, and the choices of its command line. */
export type Session = ReturnType<typeof openSession>;

function openSession(target: Target, command: Command) {
  const { local, json: asJson = false, rate } = command.optsWithGlobals<TargetOptions>();
  /** Aborted with the reason why the command stops early, which cuts the waits of its calls short. */
  const stop = new AbortController();
  return {
    ...target,
    asJson,
    stop,
    /** Makes calls at the command's rate, by default half of what a table serves, and says so. */
    calls(units: "reads" | "writes") {
      // The other half is for the service.
      const half = local ? undefined : target.environment.tableThroughput[units] / 2;
      const limit = rate ?? half;
      const unit = units.slice(0, -1);
      if (limit !== undefined)
        process.stderr.write(
          `Using at most ${grouped(limit)} ${unit} units a second (--rate)\n`,
        );
      return new TableCalls(target.client, limit, stop.signal);
    },
    /** From now on, the first Ctrl-C stops the command, and so does an unwritable standard output. */
    interruptible() {
      // A second signal ends the process.
      for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"])
        process.once(signal, () => stop.abort());
      process.stdout.once("error", (error) => stop.abort(error));
      return stop.signal;
    },
    /** Prints a line of the result, above the progress: for people or, with `--json`, for scripts. */
    print: (text: string, json: object) =>
      printLine(asJson ? jsonText(json) : printable(text)),
    /**
     * Reads a file of order ids, one per line; `-` is standard input. It is wrong use of the command
     * if a line is not an id, or if there is none.
     */
    async readIds(file = "-") {
      const ids = await Array.fromAsync(inputLines(file), ({ text, place }) => {
        const id = text.trim();
        return isInt64(id)
          ? id
          : command.error(`error: ${place}: not a 64-bit integer: nothing was changed`);
      });
      // The command before this one in a pipe may have failed.
      if (ids.length === 0)
        command.error(`error: ${inputName(file)} has no order ids: nothing was changed`);
      return new Set(ids);
    },
  };
}

async function printResult(result: Result, { asJson, stop }: Session) {
  const { text, json, notes = [], unprinted, reason, rejected } = result;
  const printed = asJson ? json && jsonText(json) : text && printableLines(text);
  // Writes even an empty text: that fails if an earlier line could not be written.
  await writeOutput(printed ? `${printed}\n` : "").catch((error) => {
    throw unprinted ? new CommandError(`${errorText(error)}. ${unprinted}`) : error;
  });
  for (const note of [...notes, reason && `${reason}${remedy(stop.signal)}`])
    if (note) process.stderr.write(`${printableLines(note)}\n`);
  // A command may have set a graver exit code.
  if (rejected || reason) process.exitCode ||= 1;
}

/** Advice on a command that stopped early, if running it again helps. */
function remedy({ reason }: AbortSignal) {
  return isTemporary(reason) ? ". Run it again for the rest." : "";
}

/** Writes to standard output, and waits until that is done. @throws what the write fails with. */
function writeOutput(text: string) {
  return new Promise<void>((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
