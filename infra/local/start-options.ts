import { Command, InvalidArgumentError } from "commander";
import { isApiKey, withoutKeys } from "../../shared/api-keys.ts";
import { environments } from "../environments.ts";
import type { LocalStackOptions } from "./local-stack.ts";
import { callersPath } from "./machine/callers-path.ts";

/**
 * Reads the options of `npm start`. Invalid ones end the process with exit code 1 and one line, in
 * which keys are cut short.
 */
export function startOptions(argv: string[]): LocalStackOptions & { json?: true } {
  const command = new Command("npm start --")
    .description(
      "Runs the pet store orders service on this machine, from the stack that would be deployed.",
    )
    .option(
      "--port <number>",
      "the port on localhost; 0 picks a free one (default: 3000)",
      numberFrom(0),
    )
    .option(
      "--orders <file>",
      "orders for new tables: NDJSON, one order per line with its status (default: a small sample)",
      parseFile,
    )
    .option("--db <file>", "keep the data in this file (default: in memory)", parseFile)
    .option(
      "--api-key <key>",
      "a key to accept, like one printed by an earlier start (default: a new one)",
      parseKey,
    )
    .option("--watch", "rebuild when the sources change")
    .option(
      "--throttle <n>",
      "respond to every nth request with 429, to try a client's retries",
      numberFrom(1),
    )
    .option(
      "--unavailable <n>",
      "respond to every nth list or cancellation with 503, likewise",
      numberFrom(1),
    )
    .option("--json", "print one line of JSON when ready, for scripts")
    .addHelpText(
      "after",
      "\nDYNAMODB_ENDPOINT names a DynamoDB engine to use instead of the embedded one, " +
        "like http://localhost:8000.",
    )
    .configureOutput({ outputError: (text, write) => write(withoutKeys(text)) });
  rejectOptionsOfNpm(command, argv);
  return command.parse(argv).opts();
}

/**
 * Rejects options that were written before `--`, which npm keeps for itself. The message says what
 * to write instead.
 */
function rejectOptionsOfNpm(command: Command, argv: string[]): void {
  const { env } = process;
  if (env["npm_lifecycle_event"] !== "start") return;
  const kept = (long = ""): string | undefined =>
    env[`npm_config_${long.slice(2).replaceAll("-", "_")}`];
  const taken = command.options.filter(({ long = "" }) => kept(long) && !argv.includes(long));
  if (taken.length === 0) return;
  const written = taken.map(({ long, flags, required }) => {
    // Of `--port 3001`, npm takes the option for a flag and passes the value on.
    const value = kept(long) === "true" ? argv[2] : kept(long);
    return required && taken.length === 1 ? `${long} ${value}` : flags;
  });
  command.error(`npm keeps options before -- for itself. Write: npm start -- ${written.join(" ")}`);
}

function numberFrom(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d{1,5}$/.test(text) && number >= least && number <= 65_535) return number;
    throw new InvalidArgumentError(`Must be a whole number from ${least} to 65535.`);
  };
}

/**
 * Rejects an empty name, as from an unset variable: SQLite would make a database that is gone once
 * it is closed.
 */
function parseFile(name: string): string {
  if (name === "") throw new InvalidArgumentError("The name of a file is missing.");
  return callersPath(name);
}

function parseKey(key: string): string {
  const { apiKeyPrefix } = environments.staging;
  if (!isApiKey(key) || !key.startsWith(`${apiKeyPrefix}_`)) {
    throw new InvalidArgumentError(`Not a well-formed key that starts with ${apiKeyPrefix}_.`);
  }
  return key;
}
