import { once } from "node:events";
import { Command, InvalidArgumentError } from "commander";
import { OrdersFileError } from "../orders-file/orders-file.ts";

import { engineClient } from "./engine/client.ts";
import { exampleOrderId } from "./engine/orders.ts";
import { type LocalStack, startLocalStack } from "./local-stack.ts";
import { writeStackFile } from "./stack-file.ts";
import { StartError } from "./start-error.ts";

interface Options {
  port: number;
  orders?: string;
  db?: string;
  json?: true;
}

const options = new Command("npm start --")
  .description("Runs the pet store orders service on this machine, from the stack that would be deployed.")
  .option("--port <number>", "the port on localhost; 0 picks a free one", parsePort, 3000)
  .option("--orders <file>", "orders to begin with: NDJSON, an Order a line and its status (default: a small sample)")
  .option("--db <file>", "keep the data in this file (default: in memory)")
  .option("--json", "print one line of JSON when ready, for scripts")
  .addHelpText(
    "after",
    "\nDYNAMODB_ENDPOINT names a DynamoDB engine to use instead of the embedded one, like http://localhost:8000.",
  )
  .parse()
  .opts<Options>();

const stopping = new AbortController();
// npm passes on what the terminal has sent already, so a second signal is no sign of impatience.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => stopping.abort());
// A signal that reaches npm alone ends npm and its shell, not what they run.
const { ppid } = process;
if (process.env["npm_lifecycle_event"] !== undefined) {
  setInterval(() => process.ppid === ppid || stopping.abort(), 200).unref();
}

try {
  const begun = performance.now();
  const stack = await startLocalStack({
    port: options.port,
    ordersFile: options.orders,
    dbFile: options.db,
    dynamodbEndpoint: process.env["DYNAMODB_ENDPOINT"] || undefined,
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
    if (!(error instanceof StartError || error instanceof OrdersFileError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

function readyLine({ baseUrl, apiKey, dynamodbEndpoint, tables }: LocalStack): string {
  return `${JSON.stringify({ baseUrl, apiKey, dynamodbEndpoint, tables })}\n`;
}

async function readyText({ baseUrl, apiKey, dynamodbEndpoint, tables }: LocalStack, seconds: string): Promise<string> {
  const client = engineClient(dynamodbEndpoint);
  const pending = await exampleOrderId(client, tables.orders, "pending");
  const shipped = await exampleOrderId(client, tables.orders, "shipped");
  client.destroy();
  const key = `-H "Authorization: Bearer ${apiKey}"`;
  const cancel = (id: string): string => `  curl -i -X DELETE ${key} ${baseUrl}/store/orders/${id}`;
  return [
    `The pet store orders service is ready after ${seconds} s. Ctrl-C ends it.`,
    "",
    `  Base URL  ${baseUrl}`,
    `  API key   ${apiKey}`,
    `  Try it    ${new URL("/", baseUrl).href}`,
    "",
    "List all orders:",
    `  curl -i ${key} ${baseUrl}/store/orders`,
    ...(pending === undefined
      ? []
      : ["Cancel an order that is pending: 204, and 409 when you do it again:", cancel(pending)]),
    "Cancel an order that does not exist: 404:",
    cancel("none"),
    ...(shipped === undefined ? [] : ["Cancel an order that has shipped: 409:", cancel(shipped)]),
    "",
    "",
  ].join("\n");
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError("It is no port number from 0 to 65535.");
  return port;
}
