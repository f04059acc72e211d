import { once } from "node:events";
import { Command, InvalidArgumentError } from "commander";
import { OrdersFileError } from "../orders-file/orders-file.ts";
import { TemplateError } from "../template/template-error.ts";
import { startLocalStack } from "./local-stack.ts";
import { StartError } from "./machine/start-error.ts";
import { readyLine, readyText } from "./ready-text.ts";
import { writeStackFile } from "./stack-file.ts";

interface Options {
  port: number;
  orders?: string;
  db?: string;
  watch?: true;
  json?: true;
}

const options = new Command("npm start --")
  .description("Runs the pet store orders service on this machine, from the stack that would be deployed.")
  .option("--port <number>", "the port on localhost; 0 picks a free one", parsePort, 3000)
  .option(
    "--orders <file>",
    "orders for new tables: NDJSON, one order per line with its status (default: a small sample)",
    parseFile,
  )
  .option("--db <file>", "keep the data in this file (default: in memory)", parseFile)
  .option("--watch", "rebuild when the sources change")
  .option("--json", "print one line of JSON when ready, for scripts")
  .addHelpText(
    "after",
    "\nDYNAMODB_ENDPOINT names a DynamoDB engine to use instead of the embedded one, like http://localhost:8000.",
  )
  .parse()
  .opts<Options>();

const stopping = new AbortController();
// npm forwards signals that the terminal has already sent, so a second one means nothing.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => stopping.abort());
// A signal sent to npm alone ends npm and its shell, but not this process.
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
  const stack = await startLocalStack({
    port: options.port,
    ordersFile: options.orders,
    dbFile: options.db,
    dynamodbEndpoint,
    watch: options.watch,
    signal: stopping.signal,
  });
  await using running = new AsyncDisposableStack();
  running.defer(() => stack.stop());
  running.defer(await writeStackFile(stack));
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  process.stdout.write(options.json ? readyLine(stack) : await readyText(stack, seconds));
  if (!stopping.signal.aborted) await once(stopping.signal, "abort");
} catch (error) {
  if (!stopping.signal.aborted) {
    if (!(error instanceof StartError || error instanceof TemplateError || error instanceof OrdersFileError))
      throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError("The port must be between 0 and 65535.");
  return port;
}

/** For an empty name, as from an unset variable, SQLite would make a database that is gone once it is closed. */
function parseFile(name: string): string {
  if (name === "") throw new InvalidArgumentError("The name of a file is missing.");
  return name;
}
