import { once } from "node:events";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommandError } from "../terminal/errors.ts";
import type { Build } from "./local-stack.ts";
import { startOptions } from "./start-options.ts";
import { forTerminal } from "./terminal-log.ts";

const { json, ...options } = startOptions(process.argv);

const stopping = new AbortController();
// npm forwards signals that the terminal has already sent, so a second one means nothing.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"])
  process.on(signal, () => stopping.abort());
// A signal sent to npm alone doesn't end this process. Its parent is npm: the script replaces npm's
// shell.
const { ppid } = process;
if (process.env["npm_lifecycle_event"] !== undefined) {
  const checkParent = () => {
    if (process.ppid !== ppid) stopping.abort();
  };
  setInterval(checkParent, 200).unref();
}

try {
  const begun = performance.now();
  const dynamodbEndpoint = process.env["DYNAMODB_ENDPOINT"] || undefined;
  if (options.db !== undefined && dynamodbEndpoint !== undefined) {
    throw new CommandError(
      "--db is for the embedded engine, but DYNAMODB_ENDPOINT names another: use one of the two",
    );
  }
  process.stderr.write("Building the service...\n");
  // They take a while to load.
  const [
    { startLocalStack },
    { notLoadedText, readyText },
    { addToStackFile },
    { synthesise },
  ] = await Promise.all([
    import("./local-stack.ts"),
    import("./ready-text.ts"),
    import("./stack-file.ts"),
    import("./template/synthesis.ts"),
  ]);
  await using running = new AsyncDisposableStack();
  // The real path, without links: source maps name the sources relative to it.
  const directory = await realpath(await mkdtemp(join(tmpdir(), "pet-store-orders-")));
  running.defer(() => rm(directory, { recursive: true, force: true }));
  const build: Build = (signal) => synthesise(directory, { signal, sourceMaps: true });
  const stack = await startLocalStack(build, {
    ...options,
    dynamodbEndpoint,
    log: (line) => process.stderr.write(`${forTerminal(line)}\n`),
    signal: stopping.signal,
  });
  running.defer(() => stack.stop());
  if (options.orders !== undefined && !stack.hasNewTables) {
    process.stderr.write(`${notLoadedText(options.orders)}\n`);
  }
  const { apiKey, whereabouts } = stack;
  running.defer(addToStackFile(whereabouts));
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  // With nobody to tell, the stack ends as it does otherwise, and leaves nothing behind.
  const unheard = new AbortController();
  process.stdout.once("error", (error) => unheard.abort(error));
  const line = JSON.stringify({ ...whereabouts, apiKey });
  process.stdout.write(json ? `${line}\n` : await readyText(stack, seconds, options));
  const over = AbortSignal.any([stopping.signal, stack.ended, unheard.signal]);
  if (!over.aborted) await once(over, "abort");
  if (!stopping.signal.aborted) throw over.reason;
} catch (error) {
  if (!stopping.signal.aborted) throw error;
}
