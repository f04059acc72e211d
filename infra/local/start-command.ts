import { once } from "node:events";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { isApiKey, withoutKeys } from "../../shared/api-keys.ts";
import { environments } from "../environments.ts";
import { OrdersFileError } from "../orders-file/orders-file.ts";
import { StartError } from "../template/start-error.ts";
import { synthesise } from "../template/synthesis.ts";
import { type Build, type LocalStackOptions, startLocalStack } from "./local-stack.ts";
import { callersPath } from "./machine/callers-path.ts";
import { notLoadedText, readyText } from "./ready-text.ts";
import { addToStackFile } from "./stack-file.ts";

const command = new Command("npm start --")
  .description("Runs the pet store orders service on this machine, from the stack that would be deployed.")
  .option("--port <number>", "the port on localhost; 0 picks a free one (default: 3000)", numberFrom(0))
  .option(
    "--orders <file>",
    "orders for new tables: NDJSON, one order per line with its status (default: a small sample)",
    parseFile,
  )
  .option("--db <file>", "keep the data in this file (default: in memory)", parseFile)
  .option("--api-key <key>", "a key to accept, like one printed by an earlier start (default: a new one)", parseKey)
  .option("--watch", "rebuild when the sources change")
  .option("--throttle <n>", "respond to every nth request with 429, to try a client's retries", numberFrom(1))
  .option("--unavailable <n>", "respond to every nth list or cancellation with 503, likewise", numberFrom(1))
  .option("--json", "print one line of JSON when ready, for scripts")
  .addHelpText(
    "after",
    "\nDYNAMODB_ENDPOINT names a DynamoDB engine to use instead of the embedded one, like http://localhost:8000.",
  )
  .configureOutput({ outputError: (text, write) => write(withoutKeys(text)) });
rejectOptionsOfNpm();
const { json, ...options } = command.parse().opts<LocalStackOptions & { json?: true }>();

const stopping = new AbortController();
// npm forwards signals that the terminal has already sent, so a second one means nothing.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => stopping.abort());
// A signal sent to npm alone doesn't end this process. Its parent is npm: the script replaces npm's shell.
const { ppid } = process;
if (process.env["npm_lifecycle_event"] !== undefined) {
  setInterval(() => process.ppid === ppid || stopping.abort(), 200).unref();
}

try {
  const begun = performance.now();
  const dynamodbEndpoint = process.env["DYNAMODB_ENDPOINT"] || undefined;
  if (options.db !== undefined && dynamodbEndpoint !== undefined) {
    throw new StartError("--db is for the embedded engine, but DYNAMODB_ENDPOINT names another: use one of the two");
  }
  await using running = new AsyncDisposableStack();
  // Without links on the way: source maps name the sources relative to it.
  const directory = await realpath(await mkdtemp(join(tmpdir(), "pet-store-orders-")));
  running.defer(() => rm(directory, { recursive: true, force: true }));
  const build: Build = (signal) => synthesise(directory, { signal, sourceMaps: true });
  const stack = await startLocalStack(build, { ...options, dynamodbEndpoint, signal: stopping.signal });
  running.defer(() => stack.stop());
  if (options.orders !== undefined && !stack.hasNewTables) {
    process.stderr.write(`${notLoadedText(options.orders)}\n`);
  }
  running.defer(await addToStackFile(stack));
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const { baseUrl, apiKey, tables } = stack;
  const line = JSON.stringify({ baseUrl, apiKey, dynamodbEndpoint: stack.dynamodbEndpoint, tables });
  process.stdout.write(json ? `${line}\n` : await readyText(stack, seconds, options.watch));
  const over = AbortSignal.any([stopping.signal, stack.ended]);
  if (!over.aborted) await once(over, "abort");
  if (!stopping.signal.aborted) throw stack.ended.reason;
} catch (error) {
  if (!stopping.signal.aborted) {
    if (!(error instanceof StartError || error instanceof OrdersFileError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

/** npm takes options before `--` for its own and leaves their values at most: then this ends with what to write. */
function rejectOptionsOfNpm(): void {
  const { argv, env } = process;
  if (env["npm_lifecycle_event"] !== "start") return;
  const given = (long = ""): string | undefined => env[`npm_config_${long.slice(2).replaceAll("-", "_")}`];
  const taken = command.options.filter(({ long = "" }) => given(long) && !argv.includes(long));
  const written = taken.map(({ long, flags, required }) => {
    const value = given(long) === "true" ? argv[2] : given(long);
    return required && taken.length === 1 ? `${long} ${value}` : flags;
  });
  if (taken.length > 0)
    command.error(`npm keeps options before -- for itself. Write: npm start -- ${written.join(" ")}`);
}

function numberFrom(least: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= 65_535) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to 65535.`);
  };
}

/** For an empty name, as from an unset variable, SQLite would make a database that is gone once it is closed. */
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
