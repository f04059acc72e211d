import type { Command } from "commander";
import { type EnvironmentName, environments } from "../environments.ts";
import { grouped } from "../terminal/counted.ts";
import { CommandError, errorText } from "../terminal/errors.ts";
import { jsonText, printable } from "../terminal/printable.ts";
import { printLine } from "./progress.ts";
import { TableCalls } from "./table-calls.ts";
import { findDeployedStack, findLocalStack, type Target } from "./target.ts";

/** What a command works on, and how its command line says to. */
export interface Session extends Target {
  asJson: boolean;
  /** Makes calls at the rate of the command line, and says which rate that is. */
  calls(units: "reads" | "writes"): TableCalls;
  /** Aborts at the first Ctrl-C, and when standard output can't be written. */
  interruption(): AbortSignal;
  /** Prints a line of the result, above the progress: for people or, with `--json`, for scripts. */
  print(text: string, json: object): void;
  /** Ends the command as wrong use of it. */
  wrongUse(reason: string): never;
}

/** The result of a command that is still to be printed. */
export interface Result {
  /** For people, on standard output. */
  text?: string;
  /** The same for scripts, with `--json`. */
  json?: unknown;
  /** For people, on standard error, so that it stays out of a pipe. */
  note?: string | undefined;
  /** What to say if it can't be printed, though something was changed. */
  unprinted?: string;
  /** Whether the result is a rejection, which makes the exit code 1. */
  rejected?: boolean;
}

type Options = { env?: EnvironmentName; local?: true; json?: true; rate?: number };

/**
 * The action of a command: does its work on its target and prints the result. First names the
 * target on standard error, if that could be in doubt.
 *
 * @param work also gets the arguments and the options of the command line.
 */
export function action<Given extends unknown[]>(
  work: (session: Session, ...given: Given) => Promise<Result>,
) {
  return async function (this: Command, ...given: Given): Promise<void> {
    const options = this.optsWithGlobals<Options>();
    const { env, local, json: asJson = false } = options;
    const wrongUse = (reason: string): never => this.error(`error: ${reason}`);
    if (!env && !local)
      return wrongUse(
        `choose --local or one of --env ${Object.keys(environments).join(", --env ")}`,
      );
    const target = await (env ? findDeployedStack(environments[env]) : findLocalStack());
    if (target.description !== undefined) process.stderr.write(`${target.description}\n`);
    const session: Session = {
      ...target,
      asJson,
      calls: (units) => pacedCalls(target, units, options),
      interruption,
      print: (text, json) => printLine(asJson ? jsonText(json) : printable(text)),
      wrongUse,
    };
    try {
      await printResult(await work(session, ...given), asJson);
    } finally {
      target.client.destroy();
    }
  };
}

async function printResult(result: Result, asJson: boolean): Promise<void> {
  const { text, json, note, unprinted, rejected } = result;
  const printed = asJson ? json && jsonText(json) : text;
  // Without a text, too: it fails if an earlier line of the command could not be written.
  await print(printed ? `${printed}\n` : "").catch((error) => {
    throw unprinted ? new CommandError(`${errorText(error)}. ${unprinted}`) : error;
  });
  if (note) process.stderr.write(`${note}\n`);
  if (rejected) process.exitCode = 1;
}

/** Writes to standard output, and waits until that is done. */
async function print(text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  await promise;
}

/** Makes calls at a rate, by default half of what the table serves, and says which rate that is. */
export function pacedCalls(
  { client, environment }: Target,
  units: "reads" | "writes",
  { rate: chosen, local }: Pick<Options, "rate" | "local">,
): TableCalls {
  // The other half is for the service.
  const rate = chosen ?? (local ? undefined : environment.tableThroughput[units] / 2);
  if (rate !== undefined)
    process.stderr.write(
      `Using at most ${grouped(rate)} ${units.slice(0, -1)} units a second (--rate)\n`,
    );
  return new TableCalls(client, rate);
}

/** A second signal ends the process. */
function interruption(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"])
    process.once(signal, () => interrupted.abort());
  process.stdout.once("error", (error) => interrupted.abort(error));
  return interrupted.signal;
}
