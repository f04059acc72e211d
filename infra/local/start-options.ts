import { isApiKey } from "../../shared/api-keys.ts";
import { environments } from "../environments.ts";
import { callersPath } from "../terminal/input.ts";
import { accepting, parseNonEmpty, Script, wholeNumber } from "../terminal/script.ts";
import type { LocalStackOptions } from "./local-stack.ts";

const nth = wholeNumber(1, 65_535);

/** Without a name, SQLite would make a temporary database. */
const parseFile = (name: string) => callersPath(parseNonEmpty(name));

const { apiKeyPrefix } = environments.staging;
const parseKey = accepting(
  (key) => isApiKey(key) && key.startsWith(`${apiKeyPrefix}_`),
  `Not a well-formed key that starts with ${apiKeyPrefix}_.`,
);

/**
 * Reads the options of `npm start`. Invalid ones end the process with exit code 2 and one line.
 */
export function startOptions(argv: string[]): LocalStackOptions & { json?: true } {
  return new Script("npm start --")
    .description(
      "Runs the pet store orders service on this machine, from the stack that would be deployed.",
    )
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
    .parse(argv)
    .opts();
}
