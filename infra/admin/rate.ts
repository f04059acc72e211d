import { type Command, InvalidArgumentError, Option } from "commander";
import type { GlobalOptions } from "./command.ts";
import { TableCalls } from "./table-calls.ts";
import type { Target } from "./target.ts";

/** The share of a table's units that a command takes unless told otherwise. The rest is for the service. */
const share = 0.5;

/** The option `--rate`. */
export function rateOption(): Option {
  const description = "read and write units a second (default: half of what the table serves; no limit with --local)";
  return new Option("--rate <units>", description).argParser((text) => {
    if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("Must be a whole number from 1 to 999999.");
    return Number(text);
  });
}

/** Calls that read from tables, or write to them, at the rate of the command line. Says on standard error which that is. */
export function pacedCalls(command: Command, { environment }: Target, units: "reads" | "writes"): TableCalls {
  const { rate: asked, local } = command.optsWithGlobals<GlobalOptions & { rate?: number }>();
  const rate = asked ?? (local ? undefined : environment.tableThroughput[units] * share);
  if (rate !== undefined) process.stderr.write(`Using at most ${rate} ${units.slice(0, -1)} units a second (--rate)\n`);
  return new TableCalls(rate);
}
