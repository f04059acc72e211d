import { once } from "node:events";
import { mkdtempDisposable, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommandError } from "../terminal/errors.ts";
import type { StartOptions } from "./start-options.ts";

const stopped = new CommandError("Stopped before the service was ready");

/** Aborted with `stopped` by a signal. */
function endedBySignals() {
  const ending = new AbortController();
  // npm forwards signals that the terminal has already sent, so a second one means nothing.
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"])
    process.on(signal, () => ending.abort(stopped));
  // A signal sent to npm alone doesn't end this process. Its parent is npm: the script replaces npm's
  // shell.
  const { ppid } = process;
  if (process.env["npm_lifecycle_event"] !== undefined)
    setInterval(() => {
      if (process.ppid !== ppid) ending.abort(stopped);
    }, 200).unref();
  return ending;
}

/**
 * Runs the service until a signal ends it.
 *
 * @throws CommandError when it can't start, is stopped before it is ready, or ends by itself.
 */
export async function start({ json, ...options }: StartOptions): Promise<void> {
  const ending = endedBySignals();
  const dynamodbEndpoint = process.env["DYNAMODB_ENDPOINT"] || undefined;
  if (options.db !== undefined && dynamodbEndpoint !== undefined) {
    throw new CommandError(
      "--db is for the embedded engine, but DYNAMODB_ENDPOINT names another: use one of the two",
    );
  }
  // These modules take a while to load.
  const { startLocalStack } = await import("./local-stack.ts");
  const { notLoadedText, readyText } = await import("./ready-text.ts");
  const { prepareStacksFolder, writeStackFile } = await import(
    "../running-stacks/stack-files.ts"
  );
  prepareStacksFolder();
  const { synthesiseStaging } = await import("./template/synthesis.ts");
  await using folder = await mkdtempDisposable(join(tmpdir(), "pet-store-orders-"));
  await using running = new AsyncDisposableStack();
  // Without links: source maps name the sources relative to it.
  const directory = await realpath(folder.path);
  const build = (signal: AbortSignal) => synthesiseStaging(directory, signal, true);
  const stack = await startLocalStack(running, build, {
    ...options,
    dynamodbEndpoint,
    ending,
  });
  if (options.orders !== undefined && !stack.hasNewTables) {
    process.stderr.write(`${notLoadedText(options.orders)}\n`);
  }
  const { apiKey, connection } = stack;
  running.defer(writeStackFile({ ...connection, startedAt: Date.now() }));
  // With nobody to tell, the stack ends as it does otherwise, and leaves nothing behind.
  process.stdout.once("error", (error) => ending.abort(error));
  const text = json
    ? `${JSON.stringify({ ...connection, apiKey })}\n`
    : await readyText(stack, process.uptime(), options);
  process.stdout.write(text);
  if (!ending.signal.aborted) await once(ending.signal, "abort");
  if (ending.signal.reason !== stopped) throw ending.signal.reason;
}
