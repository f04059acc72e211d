import { resolve } from "node:path";
import type { Command } from "commander";
import { isApiKey } from "../../../shared/api-keys.ts";
import { environments } from "../../environments.ts";
import { accepting, parseNonEmpty, wholeNumber } from "../terminal/script.ts";
import type { LocalStackOptions } from "./local-stack.ts";

const nth = wholeNumber(1, 65_535);

/** Without a name, SQLite would make a temporary database. */
const parseFile = (name: string) => resolve(parseNonEmpty(name));

const { apiKeyPrefix } = environments.staging;
const parseKey = accepting(
  (key) => isApiKey(key) && key.startsWith(`${apiKeyPrefix}_`),
  `Not a well-formed key that starts with ${apiKeyPrefix}_.`,
);

export type StartOptions = LocalStackOptions & { json?: true };

/** Adds `start`. */
export function addStart(command: Command) {
  command
    .option(
      "--port <number>",
      "the port on localhost; 0 picks a free one (default: 3000)",
      wholeNumber(0, 65_535),
    )
    .option(
      "--orders <file>",
      "orders for new tables: NDJSON, one order per line with its status (default: a small sample)",
      parseFile,
    )
    .option(
      "--db <file>",
      "keep the data in this file; beside it, an empty file-lock stays (default: in memory)",
      parseFile,
    )
    .option(
      "--api-key <key>",
      "a key to accept, like one printed by an earlier start (default: a new one)",
      parseKey,
    )
    .option("--watch", "rebuild when the sources change")
    .option(
      "--throttle <n>",
      "respond to every nth request with 429, to try a client's retries",
      nth,
    )
    .option(
      "--unavailable <n>",
      "respond to every nth list or cancellation with 503, likewise",
      nth,
    )
    .option("--cut <n>", "cut every nth list off midway, likewise", nth)
    .option(
      "--inspect",
      "open a debugger port for each function, and suspend its timeout",
    )
    .option("--json", "print one line of JSON when ready, for scripts")
    .addHelpText(
      "after",
      "\nDYNAMODB_ENDPOINT names a DynamoDB engine to use instead of the embedded one, " +
        "like http://localhost:8000.",
    )
    .action(async (options: StartOptions) => (await import("./start.ts")).start(options));
}
