import { type Command, InvalidArgumentError, Option } from "commander";
import { type EnvironmentName, environments } from "../environments.ts";
import { grouped } from "../terminal/counted.ts";
import { CommandError, errorText } from "../terminal/errors.ts";
import { jsonText } from "../terminal/printable.ts";
import { TableCalls } from "./table-calls.ts";
import { findDeployedStack, findLocalStack, type Target } from "./target.ts";

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

/**
 * Does a command's work on its target and prints the result, as JSON with `--json`. First names the
 * target on standard error, if that could be in doubt.
 */
export async function run(
  command: Command,
  work: (target: Target, asJson: boolean) => Promise<Result>,
): Promise<void> {
  type Options = { env?: EnvironmentName; local?: true; json?: true };
  const { env, local, json: asJson = false } = command.optsWithGlobals<Options>();
  if (!env && !local) {
    return command.error(
      `error: choose --local or one of --env ${Object.keys(environments).join(", --env ")}`,
    );
  }
  const target = await (env ? findDeployedStack(environments[env]) : findLocalStack());
  if (target.description !== undefined) process.stderr.write(`${target.description}\n`);
  try {
    await printResult(await work(target, asJson), asJson);
  } finally {
    target.client.destroy();
  }
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

/** The option `--rate`. */
export function rateOption(): Option {
  const description =
    "read and write units a second (default: half of what the table serves; no limit with --local)";
  return new Option("--rate <units>", description).argParser((text) => {
    if (!/^[1-9]\d{0,5}$/.test(text))
      throw new InvalidArgumentError("Must be a whole number from 1 to 999999.");
    return Number(text);
  });
}

/** Makes calls that read or write at the rate of the command line, and says which rate that is. */
export function pacedCalls(
  command: Command,
  { client, environment }: Target,
  units: "reads" | "writes",
): TableCalls {
  const { rate: chosen, local } = command.optsWithGlobals<{ rate?: number; local?: true }>();
  // The other half is for the service.
  const rate = chosen ?? (local ? undefined : environment.tableThroughput[units] / 2);
  if (rate !== undefined)
    process.stderr.write(
      `Using at most ${grouped(rate)} ${units.slice(0, -1)} units a second (--rate)\n`,
    );
  return new TableCalls(client, rate);
}

/**
 * A signal that aborts at the first Ctrl-C or SIGTERM, of which the second ends the process, and
 * when standard output can't be written.
 */
export function interruption(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"])
    process.once(signal, () => interrupted.abort());
  process.stdout.once("error", (error) => interrupted.abort(error));
  return interrupted.signal;
}
